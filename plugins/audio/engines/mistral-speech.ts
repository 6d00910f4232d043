import { AppError } from "#kernel/errors.ts";
import { askForJson, toBearer, toServer } from "#kernel/upstream/engine-call.ts";
import type { SpeechEngine } from "../service.ts";
import { type EngineParts, toNames, unlessCommon } from "./parts.ts";

const title = "Mistral";
const ownModel = "voxtral-mini-tts-2603";

/** `POST /audio/speech {model, input, voice_id, response_format}` answers `{audio_data}` in base64. */
export function createMistralSpeech({ egress, settings }: EngineParts): SpeechEngine {
  const server = () => toServer({ url: settings.ttsMistralUrl, key: settings.ttsMistralKey });
  const facts = (signal: AbortSignal) => ({
    title,
    headers: toBearer(server().key),
    timeoutMs: settings.ttsTimeout * 1000,
    signal,
  });
  return {
    id: "mistral",
    title,
    variables: ["AUDIO_TTS_MISTRAL_API_BASE_URL", "AUDIO_TTS_MISTRAL_API_KEY"],
    maxCharacters: 4_096,
    missing: () => [
      ...(server().url === "" ? ["AUDIO_TTS_MISTRAL_API_BASE_URL"] : []),
      ...(server().key === "" ? ["AUDIO_TTS_MISTRAL_API_KEY"] : []),
    ],
    isJoinable: () => true,
    facts: () => [server().url],
    models: async () => [{ id: ownModel, name: ownModel }],
    async voices(signal) {
      const answer = await askForJson(egress, {
        ...facts(signal),
        url: `${server().url}/audio/voices?limit=100`,
      });
      return toNames(answer["items"] ?? answer["data"]);
    },
    async speak({ text, model, voice, signal }) {
      const body = {
        model: unlessCommon(model) || ownModel,
        input: text,
        response_format: "mp3",
        ...(unlessCommon(voice) !== "" && { voice_id: voice }),
      };
      const url = `${server().url}/audio/speech`;
      const answer = await askForJson(egress, { ...facts(signal), url, method: "POST", body });
      if (typeof answer["audio_data"] !== "string") {
        throw new AppError("upstream", `${title} answered without a sound.`);
      }
      const bytes = Buffer.from(answer["audio_data"], "base64");
      return {
        type: "audio/mpeg",
        bytes: (async function* () {
          yield bytes;
        })(),
      };
    },
  };
}
