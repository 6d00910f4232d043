import { askForJson, toObjects, toServer } from "#kernel/upstream/engine-call.ts";
import type { Container, TranscriptionEngine } from "../service.ts";
import { requireText } from "./openai-transcription.ts";
import type { EngineParts } from "./parts.ts";

const title = "Deepgram";
const models = ["nova-3", "nova-2", "enhanced", "base"];
const containers: ReadonlySet<Container> = new Set([
  "wav",
  "mp3",
  "ogg",
  "flac",
  "mp4",
  "webm",
  "aac",
  "aiff",
  "amr",
]);

/** `POST /v1/listen` takes the bytes and answers `{results: {channels: [{alternatives: [{transcript}]}]}}`. */
export function createDeepgram({ egress, settings }: EngineParts): TranscriptionEngine {
  const server = () => toServer({ url: settings.sttDeepgramUrl, key: settings.sttDeepgramKey });
  return {
    id: "deepgram",
    title,
    variables: ["DEEPGRAM_API_KEY", "DEEPGRAM_API_BASE_URL"],
    missing: () => [
      ...(server().key === "" ? ["DEEPGRAM_API_KEY"] : []),
      ...(server().url === "" ? ["DEEPGRAM_API_BASE_URL"] : []),
    ],
    // It would take 2 GB; a request stands in memory.
    limits: () => ({ bytes: 100 * 1024 * 1024, seconds: null, containers }),
    models: async () => models.map((id) => ({ id, name: id })),
    async transcribe({ recording, model, language, signal }) {
      const query = new URLSearchParams({
        model: model || "nova-3",
        smart_format: "true",
        ...(language === undefined ? { detect_language: "true" } : { language }),
      });
      const answer = await askForJson(egress, {
        title,
        url: `${server().url}/v1/listen?${query}`,
        method: "POST",
        headers: { authorization: `Token ${server().key}`, "content-type": recording.contentType },
        body: recording.bytes,
        timeoutMs: settings.sttTimeout * 1000,
        signal,
      });
      const channels = toObjects((answer["results"] as { channels?: unknown } | undefined)?.channels);
      const [alternative] = toObjects(channels[0]?.["alternatives"]);
      return requireText(alternative?.["transcript"], title);
    },
  };
}
