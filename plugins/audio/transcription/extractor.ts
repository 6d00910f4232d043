import { AppError } from "#kernel/errors.ts";
import type { Extractor } from "#plugins/extraction/service.ts";
import { isText, maxTextLength } from "#plugins/files/service.ts";
import { findContainer } from "../container.ts";
import type { AudioSettings } from "../config.ts";
import type { Transcriber } from "./transcription.ts";

export interface RecordingExtractorParts {
  readonly settings: AudioSettings;
  readonly transcriber: Transcriber;
}

/** Uploaded recordings as text, for chats and knowledge, while an engine for transcription is set up. */
export function createRecordingExtractor({ settings, transcriber }: RecordingExtractorParts): Extractor {
  return {
    id: "audio.recordings",
    accepts({ name, type }, head) {
      const isSaid = /^(audio|video)\//.test(type) && !isText(type, name);
      const isUnsaid = type === "" || type === "application/octet-stream";
      return transcriber.isReady() && (isSaid || (isUnsaid && findContainer(head) !== undefined));
    },
    facts: () =>
      transcriber.isReady() ? [settings.sttEngine, settings.sttModel, settings.sttLanguage] : undefined,
    async extract({ name, type, language, userId, open }, signal) {
      const stored = await transcriber.store(await open(), signal);
      try {
        const call = { filename: name, contentType: type, language, userId, signal };
        const text = await transcriber.transcribe(stored, call);
        if (text === "") {
          throw new AppError("unprocessable", "No words were heard in this recording.");
        }
        const isCut = text.length > maxTextLength;
        return { text: text.slice(0, maxTextLength), places: [], ...(isCut && { truncated: true }) };
      } catch (error) {
        throw toDocumentError(error);
      } finally {
        await stored.remove();
      }
    },
  };
}

/** A fault of the recording is none of the engine: trying it again would give the same. */
function toDocumentError(error: unknown): unknown {
  return error instanceof AppError && error.code === "invalid"
    ? new AppError("unprocessable", error.message.replace(/^file: /, "The file "), { cause: error })
    : error;
}
