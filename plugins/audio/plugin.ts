import { type ModelCall, modelCallEnded } from "#kernel/completion/model-call.ts";
import { definePlugin } from "#kernel/plugin.ts";
import { fill } from "#kernel/service.ts";
import { blobs, configuration, egress, events } from "#kernel/services.ts";
import { createSpeechCache } from "#kernel/upstream/speech-cache.ts";
import { extractors } from "#plugins/extraction/service.ts";
import { audioVariables } from "./config.ts";
import { createSpeechEngines, createTranscriptionEngines } from "./engines/engines.ts";
import { configRoutes } from "./routes/config-routes.ts";
import { audioRoutes } from "./routes/routes.ts";
import { type AudioEngine, speechEngines, transcriptionEngines } from "./service.ts";
import { createSpeech } from "./speech/speech.ts";
import { createDecoder } from "./transcription/decoder.ts";
import { createRecordingExtractor } from "./transcription/extractor.ts";
import { createTranscriber } from "./transcription/transcription.ts";

export default definePlugin({
  id: "audio",
  title: "Audio",
  summary: "Reads texts aloud and writes recordings down, with engines.",
  config: audioVariables,
  uses: { blobs, configuration, egress, events, speechEngines, transcriptionEngines },
  pages: [
    {
      id: "audio.settings",
      path: "/admin/audio",
      title: "Voice",
      icon: "mic",
      place: "admin",
      group: "models",
      order: 30,
      access: "admin",
    },
    {
      id: "audio.voice",
      path: "/settings/voice",
      title: "Voice",
      icon: "mic",
      place: "settings",
      order: 7.5,
      access: "user",
    },
  ],

  setup({ config, use, log }) {
    const engineParts = { egress: use.egress, settings: config };
    const [ownSpeech, ownTranscription] = [
      createSpeechEngines(engineParts),
      createTranscriptionEngines(engineParts),
    ];
    const engines = {
      speechEngines: () => [...ownSpeech, ...use.speechEngines.list()],
      transcriptionEngines: () => [...ownTranscription, ...use.transcriptionEngines.list()],
    };
    const cache = createSpeechCache({ blobs: use.blobs, log });
    const shared = {
      settings: config,
      events: use.events,
      ended: (call: ModelCall) => use.events.emit(modelCallEnded, call),
    };
    const decoder = createDecoder({ program: () => config.decoder, seconds: () => config.sttTimeout });
    const transcriber = createTranscriber({ ...shared, decoder, engines: engines.transcriptionEngines });
    const speech = createSpeech({ ...shared, cache, engines: engines.speechEngines });
    const routeParts = { ...shared, ...engines, speech, transcriber, configuration: use.configuration };
    return {
      routes: {
        api: [...configRoutes("/audio", routeParts), ...audioRoutes("/audio", routeParts)],
        audio: [...configRoutes("", routeParts), ...audioRoutes("", routeParts)],
      },
      fills: [fill(extractors, createRecordingExtractor({ settings: config, transcriber }))],
      jobs: [
        { id: "audio.speeches", title: "Removes cached speech", every: 86_400, run: () => cache.sweep() },
      ],
      start() {
        requireDistinct(engines.speechEngines());
        requireDistinct(engines.transcriptionEngines());
      },
    };
  },
});

function requireDistinct(engines: readonly AudioEngine[]): void {
  const ids = engines.map(({ id }) => id);
  const twice = ids.find((id, at) => ids.indexOf(id) !== at);
  if (twice !== undefined) {
    throw new Error(`Two plugins bring an audio engine with the id "${twice}".`);
  }
}
