import { AppError } from "#kernel/errors.ts";
import { askForJson, openAnswer, toObjects, toServer } from "#kernel/upstream/engine-call.ts";
import type { Named, SpeechEngine } from "../service.ts";
import { type EngineParts, unlessCommon } from "./parts.ts";
import { toSound } from "./sound.ts";

const title = "ElevenLabs";
/** Milliseconds for which the list of voices is asked for once, where nobody chose one. */
const listMs = 600_000;

/** `POST /v1/text-to-speech/<voice>/stream {text, model_id}` answers the sound, with the key in `xi-api-key`. */
export function createElevenLabs({ egress, settings }: EngineParts): SpeechEngine {
  const server = () => toServer({ url: settings.ttsElevenUrl, key: settings.ttsKey });
  const facts = (signal: AbortSignal) => ({
    title,
    headers: { "xi-api-key": server().key },
    timeoutMs: settings.ttsTimeout * 1000,
    signal,
  });
  const listVoices = async (signal: AbortSignal): Promise<Named[]> => {
    const answer = await askForJson(egress, { ...facts(signal), url: `${server().url}/v1/voices` });
    return toObjects(answer["voices"]).map(({ voice_id: id, name }) => ({
      id: String(id),
      name: String(name ?? id),
    }));
  };
  let first: { readonly until: number; readonly of: string; readonly id: string } | undefined;
  const findFirstVoice = async (signal: AbortSignal): Promise<string> => {
    const of = JSON.stringify(server());
    if (first === undefined || first.of !== of || first.until < Date.now()) {
      const [voice] = await listVoices(signal);
      if (voice === undefined) {
        throw new AppError("upstream", `${title} has no voice for this key.`);
      }
      first = { until: Date.now() + listMs, of, id: voice.id };
    }
    return first.id;
  };
  return {
    id: "elevenlabs",
    title,
    variables: ["AUDIO_TTS_API_KEY", "ELEVENLABS_API_BASE_URL"],
    maxCharacters: 5_000,
    missing: () => [
      ...(server().key === "" ? ["AUDIO_TTS_API_KEY"] : []),
      ...(server().url === "" ? ["ELEVENLABS_API_BASE_URL"] : []),
    ],
    isJoinable: () => true,
    facts: () => [server().url],
    async models(signal) {
      // The answer is a bare list, whose objects keep their places.
      const answer = await askForJson(egress, { ...facts(signal), url: `${server().url}/v1/models` });
      return toObjects(Object.values(answer))
        .filter(({ can_do_text_to_speech: speaks }) => speaks !== false)
        .map(({ model_id: id, name }) => ({ id: String(id), name: String(name ?? id) }));
    },
    voices: listVoices,
    async speak({ text, model, voice, signal }) {
      const chosen = unlessCommon(voice) || (await findFirstVoice(signal));
      const url = `${server().url}/v1/text-to-speech/${encodeURIComponent(chosen)}/stream?output_format=mp3_44100_128`;
      const body = { text, model_id: unlessCommon(model) || "eleven_multilingual_v2" };
      return toSound(await openAnswer(egress, { ...facts(signal), url, method: "POST", body }), title);
    },
  };
}
