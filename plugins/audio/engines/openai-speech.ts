import { askForJson, openAnswer, toBearer, toServer } from "#kernel/upstream/engine-call.ts";
import { isJoinableFormat } from "../speech/format.ts";
import type { SpeechEngine } from "../service.ts";
import { type EngineParts, isOfficial, toNames } from "./parts.ts";
import { toSound } from "./sound.ts";

const title = "The speech API";
const officialModels = ["tts-1", "tts-1-hd", "gpt-4o-mini-tts"];
const officialVoices = ["alloy", "ash", "coral", "echo", "fable", "nova", "onyx", "sage", "shimmer"];

/**
 * The common format: `POST /audio/speech {model, voice, input}` answers the sound. Compatible servers list what they
 * have at `/audio/models` and `/audio/voices`.
 */
export function createOpenAiSpeech({ egress, settings }: EngineParts): SpeechEngine {
  const server = () => toServer({ url: settings.ttsOpenaiUrl, key: settings.ttsOpenaiKey });
  const facts = (signal: AbortSignal) => ({
    title,
    headers: toBearer(server().key),
    timeoutMs: settings.ttsTimeout * 1000,
    signal,
  });
  const list = async (what: "models" | "voices", official: readonly string[], signal: AbortSignal) => {
    const { url } = server();
    if (isOfficial(url)) {
      return official.map((id) => ({ id, name: id }));
    }
    const answer = await askForJson(egress, { ...facts(signal), url: `${url}/audio/${what}` });
    return toNames(answer[what] ?? answer["data"]);
  };
  return {
    id: "openai",
    title: "Common format (OpenAI and compatible)",
    variables: ["AUDIO_TTS_OPENAI_API_BASE_URL", "AUDIO_TTS_OPENAI_API_KEY", "AUDIO_TTS_OPENAI_PARAMS"],
    maxCharacters: 4_096,
    missing: () => (server().url === "" ? ["AUDIO_TTS_OPENAI_API_BASE_URL"] : []),
    isJoinable: () => isJoinableFormat(String(settings.ttsOpenaiParams["response_format"] ?? "mp3")),
    facts: () => [server().url, settings.ttsOpenaiParams],
    models: (signal) => list("models", officialModels, signal),
    voices: (signal) => list("voices", officialVoices, signal),
    async speak({ text, model, voice, signal }) {
      const body = {
        model: model || "tts-1",
        input: text,
        voice: voice || "alloy",
        response_format: "mp3",
        ...settings.ttsOpenaiParams,
      };
      const call = { ...facts(signal), url: `${server().url}/audio/speech`, method: "POST" as const, body };
      return toSound(await openAnswer(egress, call), title);
    },
  };
}
