import { askForJson, openAnswer, toObjects, toServer } from "#kernel/upstream/engine-call.ts";
import type { SpeechEngine } from "../service.ts";
import { type EngineParts, unlessCommon } from "./parts.ts";
import { toSound } from "./sound.ts";

const title = "Azure Speech";
const ownVoice = "en-US-AvaMultilingualNeural";

/** `POST /cognitiveservices/v1` takes SSML and answers the sound in the format of `X-Microsoft-OutputFormat`. */
export function createAzureSpeech({ egress, settings }: EngineParts): SpeechEngine {
  const server = () =>
    toServer({
      url: settings.ttsAzureUrl || toHost(settings.ttsAzureRegion),
      key: settings.ttsKey,
    });
  const facts = (signal: AbortSignal) => ({
    title,
    timeoutMs: settings.ttsTimeout * 1000,
    signal,
  });
  const headers = () => ({ "ocp-apim-subscription-key": server().key });
  return {
    id: "azure",
    title,
    variables: [
      "AUDIO_TTS_API_KEY",
      "AUDIO_TTS_AZURE_SPEECH_REGION",
      "AUDIO_TTS_AZURE_SPEECH_BASE_URL",
      "AUDIO_TTS_AZURE_SPEECH_OUTPUT_FORMAT",
    ],
    maxCharacters: 5_000,
    missing: () => [
      ...(server().key === "" ? ["AUDIO_TTS_API_KEY"] : []),
      ...(server().url === "" ? ["AUDIO_TTS_AZURE_SPEECH_REGION"] : []),
    ],
    isJoinable: () => settings.ttsAzureFormat.endsWith("-mp3"),
    facts: () => [server().url, settings.ttsAzureFormat],
    models: async () => [],
    async voices(signal) {
      const url = `${server().url}/cognitiveservices/voices/list`;
      const answer = await askForJson(egress, { ...facts(signal), url, headers: headers() });
      return toObjects(Object.values(answer)).map(({ ShortName: id, DisplayName: name, Locale: locale }) => ({
        id: String(id),
        name: `${String(name ?? id)} (${String(locale ?? "")})`,
      }));
    },
    async speak({ text, voice, signal }) {
      const call = {
        ...facts(signal),
        url: `${server().url}/cognitiveservices/v1`,
        method: "POST" as const,
        headers: {
          ...headers(),
          "content-type": "application/ssml+xml",
          "x-microsoft-outputformat": settings.ttsAzureFormat,
        },
        body: toSsml(text, unlessCommon(voice) || ownVoice),
      };
      return toSound(await openAnswer(egress, call), title);
    },
  };
}

const toHost = (region: string) => (region === "" ? "" : `https://${region}.tts.speech.microsoft.com`);

/** Names of voices begin with their locale. */
function toSsml(text: string, voice: string): string {
  const locale = /^[a-z]{2,3}-[A-Z][\w]*/i.exec(voice)?.[0] ?? "en-US";
  const head = `<speak version="1.0" xmlns="http://www.w3.org/2001/10/synthesis" xml:lang="${escape(locale)}">`;
  return `${head}<voice name="${escape(voice)}">${escape(text)}</voice></speak>`;
}

/** Text within SSML: marks of XML written out, and no characters that XML 1.0 does not know. */
function escape(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu, " ")
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;")
    .replaceAll("'", "&apos;");
}
