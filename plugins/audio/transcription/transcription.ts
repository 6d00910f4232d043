import { readFile } from "node:fs/promises";
import type { Readable } from "node:stream";
import type { ModelCall } from "#kernel/completion/model-call.ts";
import { AppError } from "#kernel/errors.ts";
import { toEnding } from "../container.ts";
import type { AudioSettings } from "../config.ts";
import { beginAudioCall } from "../meter.ts";
import type { TranscriptionEngine } from "../service.ts";
import { type Accepted, requireAccepted } from "./accept.ts";
import { type StoredRecording, storeRecording } from "./store.ts";

export interface TranscriberParts {
  readonly settings: AudioSettings;
  engines(): readonly TranscriptionEngine[];
  ended(call: ModelCall): void;
}

export interface TranscriptionCall {
  readonly filename: string;
  readonly contentType: string;
  /** ISO 639-1 code or a locale. */
  readonly language?: string | undefined;
  readonly userId: string;
  readonly signal: AbortSignal;
}

export type Transcriber = ReturnType<typeof createTranscriber>;

const megabyte = 1024 * 1024;

/** Writes recordings down with the chosen engine (contract §10). */
export function createTranscriber(parts: TranscriberParts) {
  const { settings } = parts;
  const current = () => parts.engines().find(({ id }) => id === settings.sttEngine);

  /** Throws `unavailable` without an engine: what the old default stood for is not built in, and is told (contract D.37). */
  const requireEngine = (): TranscriptionEngine => {
    const engine = current();
    if (engine === undefined) {
      const ids = parts.engines().map(({ id }) => id);
      throw new AppError(
        "unavailable",
        `${toReason(settings.sttEngine)} AUDIO_STT_ENGINE may be ${ids.join(", ")}.`,
      );
    }
    const [missing] = engine.missing();
    if (missing !== undefined) {
      throw new AppError("unavailable", `${engine.title} needs ${missing}, which is not set.`);
    }
    return engine;
  };

  const transcribeStored = async (
    stored: StoredRecording,
    accepted: Accepted,
    { engine, call }: { readonly engine: TranscriptionEngine; readonly call: TranscriptionCall },
  ): Promise<string> => {
    const limits = engine.limits(settings.sttModel);
    if (stored.size > limits.bytes) {
      throw new AppError(
        "too_large",
        `${engine.title} takes at most ${Math.floor(limits.bytes / megabyte)} MB in one recording.`,
      );
    }
    if (!limits.containers.has(accepted.container)) {
      const known = [...limits.containers].join(", ");
      throw new AppError("invalid", `file: ${engine.title} reads ${known}, not ${accepted.container}.`);
    }
    const facts = { engine, userId: call.userId, model: settings.sttModel, asked: "", task: undefined };
    const measured = beginAudioCall({ ...facts, signal: call.signal }, parts.ended);
    try {
      const text = await engine.transcribe({
        recording: {
          ...accepted,
          filename: `recording.${toEnding(accepted.container)}`,
          bytes: new Uint8Array(await readFile(stored.path)),
        },
        model: settings.sttModel,
        language: call.language || settings.sttLanguage || undefined,
        signal: call.signal,
      });
      measured.complete({ usage: undefined, characters: text.length, tools: [] });
      return text;
    } catch (error) {
      measured.break(error);
      throw error;
    }
  };

  return {
    current,
    requireEngine,
    isReady: () => current()?.missing().length === 0,
    maxBytes: () => settings.sttMaxSize * megabyte,
    /** Throws `too_large` and `invalid`. Whoever gets it removes it. */
    store: (stream: Readable, signal: AbortSignal) =>
      storeRecording(stream, { maxBytes: settings.sttMaxSize * megabyte, signal }),
    /** Throws as `Transcription.transcribe` does. */
    async transcribe(stored: StoredRecording, call: TranscriptionCall): Promise<string> {
      const engine = requireEngine();
      return await transcribeStored(stored, requireAccepted(stored.head, call, settings), { engine, call });
    },
  };
}

function toReason(chosen: string): string {
  if (chosen === "web") {
    return "Browsers write down what is said by themselves here, so this server has no engine for recordings.";
  }
  return chosen === ""
    ? "No engine for transcription is set up. A local Whisper is not built in: run an OpenAI-shaped Whisper server and name its address in AUDIO_STT_OPENAI_API_BASE_URL."
    : `"${chosen}" is no engine for transcription here.`;
}
