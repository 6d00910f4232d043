import { AppError } from "#kernel/errors.ts";
import { askForJson, toBearer, toServer } from "#kernel/upstream/engine-call.ts";
import type { Container, TranscriptionEngine } from "../service.ts";
import { type EngineParts, isOfficial, toNames } from "./parts.ts";
import { toForm } from "./recording-form.ts";

const title = "The transcription API";
const officialModels = ["whisper-1", "gpt-4o-transcribe", "gpt-4o-mini-transcribe"];
const containers: ReadonlySet<Container> = new Set(["wav", "mp3", "ogg", "flac", "mp4", "webm"]);

/** The common format: a form with `file`, `model` and `language` to `POST /audio/transcriptions` answers `{text}`. */
export function createOpenAiTranscription({ egress, settings }: EngineParts): TranscriptionEngine {
  const server = () => toServer({ url: settings.sttOpenaiUrl, key: settings.sttOpenaiKey });
  const facts = (signal: AbortSignal) => ({
    title,
    headers: toBearer(server().key),
    timeoutMs: settings.sttTimeout * 1000,
    signal,
  });
  return {
    id: "openai",
    title: "Common format (OpenAI, Whisper servers and compatible)",
    variables: ["AUDIO_STT_OPENAI_API_BASE_URL", "AUDIO_STT_OPENAI_API_KEY"],
    missing: () => (server().url === "" ? ["AUDIO_STT_OPENAI_API_BASE_URL"] : []),
    // The vendor's newer models take 25 minutes at most.
    limits: (model) => ({
      bytes: 25 * 1024 * 1024,
      seconds: model.startsWith("gpt-4o") ? 1_500 : null,
      containers,
    }),
    async models(signal) {
      const { url } = server();
      if (isOfficial(url)) {
        return officialModels.map((id) => ({ id, name: id }));
      }
      return toNames((await askForJson(egress, { ...facts(signal), url: `${url}/models` }))["data"]);
    },
    async transcribe({ recording, model, language, signal }) {
      const body = toForm("file", recording, {
        model: model || "whisper-1",
        // The list of languages knows no regions.
        language: language?.split("-")[0]?.toLowerCase(),
        response_format: "json",
      });
      const url = `${server().url}/audio/transcriptions`;
      const answer = await askForJson(egress, { ...facts(signal), url, method: "POST", body });
      return requireText(answer["text"], title);
    },
  };
}

/** Throws `upstream` in the engine's name for an answer that has no text where it belongs. */
export function requireText(text: unknown, engine: string): string {
  if (typeof text !== "string") {
    throw new AppError("upstream", `${engine} answered without a text.`);
  }
  return text.trim();
}
