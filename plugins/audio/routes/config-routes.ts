import { z } from "zod";
import type { ConfigRegistry } from "#config/registry.ts";
import { defineRoute } from "#kernel/http/route.ts";
import { createEngineForm } from "#kernel/upstream/engine-form.ts";
import { type AudioSettings, speechVariables, transcriptionVariables } from "../config.ts";
import type { AudioEngine, SpeechEngine, TranscriptionEngine } from "../service.ts";
import { below, type Prefix } from "./prefix.ts";
import { AudioEngines } from "./schema.ts";

export interface ConfigRouteParts {
  readonly settings: AudioSettings;
  readonly configuration: Pick<ConfigRegistry, "set">;
  speechEngines(): readonly SpeechEngine[];
  transcriptionEngines(): readonly TranscriptionEngine[];
}

/** The secrets and the addresses they are sent to. */
const addresses = {
  tts: {
    ttsOpenaiKey: ["ttsOpenaiUrl"],
    ttsKey: ["ttsElevenUrl", "ttsAzureUrl"],
    ttsMistralKey: ["ttsMistralUrl"],
  },
  stt: {
    sttOpenaiKey: ["sttOpenaiUrl"],
    sttDeepgramKey: ["sttDeepgramUrl"],
    sttAzureKey: ["sttAzureUrl"],
    sttMistralKey: ["sttMistralUrl"],
  },
};

const Section = z.record(z.string(), z.unknown());
const Form = z.object({ tts: Section.optional(), stt: Section.optional() });
const View = z.object({ tts: Section, stt: Section }).meta({ id: "AudioConfig" });

/** The fields' names in the form: the variable's without what its section says already. */
const toShort = (name: string) => name.replace(/^AUDIO_(?:TTS|STT)_/, "");

/** Settings of the engines (contract §10). Secrets are shown masked and may come back so: promise S107. */
export function configRoutes(prefix: Prefix, parts: ConfigRouteParts) {
  const { settings, configuration } = parts;
  const sections = {
    tts: toSection("tts", speechVariables, settings),
    stt: toSection("stt", transcriptionVariables, settings),
  };
  const view = () => ({ tts: sections.tts.read(), stt: sections.stt.read() });
  return [
    defineRoute(
      {
        method: "GET",
        path: below(prefix, "/config"),
        summary: "Read how texts are read aloud and recordings written down",
        access: "admin",
        returns: View,
      },
      view,
    ),
    defineRoute(
      {
        method: "POST",
        path: below(prefix, "/config/update"),
        summary: "Change how texts are read aloud and recordings written down; what is left out stays",
        access: "admin",
        body: Form,
        returns: View,
        fails: [400],
      },
      async ({ body, caller }) => {
        const changes = {
          ...sections.tts.toChanges(body.tts ?? {}),
          ...sections.stt.toChanges(body.stt ?? {}),
        };
        await configuration.set(changes, caller.userId);
        return view();
      },
    ),
    defineRoute(
      {
        method: "GET",
        path: below(prefix, "/engines"),
        summary: "List the engines for speech and transcription, with the variables that each needs",
        access: "admin",
        returns: AudioEngines,
      },
      () => ({
        tts: toEngines(parts.speechEngines(), settings.ttsEngine),
        stt: toEngines(parts.transcriptionEngines(), settings.sttEngine),
      }),
    ),
  ];
}

type Kind = keyof typeof addresses;
type SectionVariables = typeof speechVariables | typeof transcriptionVariables;

/** One section of the form, whose fields carry the short names. */
function toSection(kind: Kind, variables: SectionVariables, settings: AudioSettings) {
  const form = createEngineForm({ variables, settings, addresses: addresses[kind] });
  const names = new Map(Object.values(variables).map(({ name }) => [toShort(name), name]));
  return {
    read: () =>
      Object.fromEntries(Object.entries(form.read()).map(([name, value]) => [toShort(name), value])),
    toChanges: (given: Readonly<Record<string, unknown>>) =>
      form.toChanges(
        Object.fromEntries(Object.entries(given).map(([short, value]) => [names.get(short) ?? short, value])),
      ),
  };
}

function toEngines(engines: readonly AudioEngine[], chosen: string) {
  return {
    is_ready: engines.find(({ id }) => id === chosen)?.missing().length === 0,
    engines: engines.map((engine) => ({
      id: engine.id,
      title: engine.title,
      variables: [...engine.variables],
      missing: [...engine.missing()],
    })),
  };
}
