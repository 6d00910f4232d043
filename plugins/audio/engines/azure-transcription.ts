import { askForJson, toObjects, toServer } from "#kernel/upstream/engine-call.ts";
import type { Container, TranscriptionEngine } from "../service.ts";
import { requireText } from "./openai-transcription.ts";
import type { EngineParts } from "./parts.ts";
import { toForm } from "./recording-form.ts";

const title = "Azure Speech";
const containers: ReadonlySet<Container> = new Set([
  "wav",
  "mp3",
  "ogg",
  "flac",
  "mp4",
  "webm",
  "aac",
  "amr",
]);

/**
 * The fast transcription: a form with `audio` and a `definition` to `/speechtotext/transcriptions:transcribe` answers
 * `{combinedPhrases: [{text}], phrases: [{speaker, text}]}`.
 */
export function createAzureTranscription({ egress, settings }: EngineParts): TranscriptionEngine {
  const server = () =>
    toServer({ url: settings.sttAzureUrl || toHost(settings.sttAzureRegion), key: settings.sttAzureKey });
  return {
    id: "azure",
    title,
    variables: [
      "AUDIO_STT_AZURE_API_KEY",
      "AUDIO_STT_AZURE_REGION",
      "AUDIO_STT_AZURE_BASE_URL",
      "AUDIO_STT_AZURE_LOCALES",
      "AUDIO_STT_AZURE_MAX_SPEAKERS",
    ],
    missing: () => [
      ...(server().key === "" ? ["AUDIO_STT_AZURE_API_KEY"] : []),
      ...(server().url === "" ? ["AUDIO_STT_AZURE_REGION"] : []),
    ],
    limits: () => ({ bytes: 100 * 1024 * 1024, seconds: 7_200, containers }),
    models: async () => [],
    async transcribe({ recording, language, signal }) {
      const speakers = settings.sttAzureSpeakers;
      const definition = {
        locales: toLocales(language, settings.sttAzureLocales),
        ...(speakers !== null && speakers > 1 && { diarization: { enabled: true, maxSpeakers: speakers } }),
      };
      const answer = await askForJson(egress, {
        title,
        url: `${server().url}/speechtotext/transcriptions:transcribe?api-version=2024-11-15`,
        method: "POST",
        headers: { "ocp-apim-subscription-key": server().key },
        body: toForm("audio", recording, { definition: JSON.stringify(definition) }),
        timeoutMs: settings.sttTimeout * 1000,
        signal,
      });
      const whole = toObjects(answer["combinedPhrases"]).map(({ text }) => text);
      const text = requireText(whole.length === 0 ? undefined : whole.join("\n"), title);
      return toTurns(toObjects(answer["phrases"])) ?? text;
    },
  };
}

const toHost = (region: string) => (region === "" ? "" : `https://${region}.api.cognitive.microsoft.com`);

/** The caller's language as a locale, of those that are set where one of them fits; none lets the engine find out. */
function toLocales(language: string | undefined, known: readonly string[]): readonly string[] {
  if (language === undefined) {
    return known;
  }
  const [wanted] = language.toLowerCase().split("-");
  const exact = known.filter((each) => each.toLowerCase() === language.toLowerCase());
  const near = known.filter((each) => each.toLowerCase().split("-")[0] === wanted);
  const found = exact.length > 0 ? exact : near;
  return found.length > 0 ? found : [language.includes("-") ? language : toLikelyLocale(language)];
}

function toLikelyLocale(language: string): string {
  const { region } = new Intl.Locale(language).maximize();
  return region === undefined ? language : `${language}-${region}`;
}

/** The turns of the speakers, a line each; undefined where one person speaks alone. */
function toTurns(phrases: readonly Readonly<Record<string, unknown>>[]): string | undefined {
  const turns: { readonly speaker: unknown; readonly texts: string[] }[] = [];
  for (const { speaker, text } of phrases) {
    if (typeof text !== "string") {
      continue;
    }
    const last = turns.at(-1);
    if (last !== undefined && last.speaker === speaker) {
      last.texts.push(text);
    } else {
      turns.push({ speaker, texts: [text] });
    }
  }
  return new Set(turns.map(({ speaker }) => speaker)).size < 2
    ? undefined
    : turns.map(({ speaker, texts }) => `Speaker ${String(speaker)}: ${texts.join(" ")}`).join("\n");
}
