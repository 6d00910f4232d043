import { askForJson, toBearer, toObjects, toServer } from "#kernel/upstream/engine-call.ts";
import type { Container, TranscriptionEngine, TranscriptionWish } from "../service.ts";
import { requireText } from "./openai-transcription.ts";
import type { EngineParts } from "./parts.ts";
import { toForm } from "./recording-form.ts";

const title = "Mistral";
const ownModel = "voxtral-mini-latest";
const containers: ReadonlySet<Container> = new Set(["wav", "mp3", "ogg", "flac", "mp4", "webm"]);
const inChat: ReadonlySet<Container> = new Set(["wav", "mp3"]);

/**
 * A form with `file`, `model` and `language` to `POST /audio/transcriptions` answers `{text}`. With chat completions
 * (AUDIO_STT_MISTRAL_USE_CHAT_COMPLETIONS) a model hears the recording as `input_audio` and writes it down.
 */
export function createMistralTranscription({ egress, settings }: EngineParts): TranscriptionEngine {
  const server = () => toServer({ url: settings.sttMistralUrl, key: settings.sttMistralKey });
  const ask = async (path: string, body: FormData | Record<string, unknown>, signal: AbortSignal) =>
    await askForJson(egress, {
      title,
      url: `${server().url}${path}`,
      method: "POST",
      headers: toBearer(server().key),
      body,
      timeoutMs: settings.sttTimeout * 1000,
      signal,
    });
  const askChat = async ({ recording, model, language, signal }: TranscriptionWish) => {
    const spoken = language === undefined ? "" : ` It is spoken in the language "${language}".`;
    const content = [
      { type: "input_audio", input_audio: Buffer.from(recording.bytes).toString("base64") },
      { type: "text", text: `Write down word by word what is said, and nothing else.${spoken}` },
    ];
    const body = { model: model || ownModel, temperature: 0, messages: [{ role: "user", content }] };
    const [choice] = toObjects((await ask("/chat/completions", body, signal))["choices"]);
    const answered = (choice?.["message"] as { content?: unknown } | undefined)?.content;
    return requireText(
      Array.isArray(answered)
        ? toObjects(answered)
            .map(({ text }) => text ?? "")
            .join("")
        : answered,
      title,
    );
  };
  return {
    id: "mistral",
    title,
    variables: [
      "AUDIO_STT_MISTRAL_API_BASE_URL",
      "AUDIO_STT_MISTRAL_API_KEY",
      "AUDIO_STT_MISTRAL_USE_CHAT_COMPLETIONS",
    ],
    missing: () => [
      ...(server().url === "" ? ["AUDIO_STT_MISTRAL_API_BASE_URL"] : []),
      ...(server().key === "" ? ["AUDIO_STT_MISTRAL_API_KEY"] : []),
    ],
    // Half an hour in one request; base64 makes a third more of the bytes in chat completions.
    limits: () =>
      settings.sttMistralChat
        ? { bytes: 15 * 1024 * 1024, seconds: 1_200, containers: inChat }
        : { bytes: 25 * 1024 * 1024, seconds: 1_800, containers },
    models: async () => [{ id: ownModel, name: ownModel }],
    async transcribe(wish) {
      if (settings.sttMistralChat) {
        return await askChat(wish);
      }
      const { recording, model, language, signal } = wish;
      const fields = { model: model || ownModel, language: language?.split("-")[0]?.toLowerCase() };
      return requireText(
        (await ask("/audio/transcriptions", toForm("file", recording, fields), signal))["text"],
        title,
      );
    },
  };
}
