import { z } from "zod";

/** `POST /audio/speech` (contract §10). */
export const SpeechForm = z.object({
  input: z.string().min(1),
  model: z.string().max(300).nullish(),
  voice: z.string().max(300).nullish(),
  /** The one format that all engines answer and all browsers play. */
  response_format: z.literal("mp3").nullish(),
});

export const TranscriptionAnswer = z
  .object({
    text: z.string(),
    /** Name of the uploaded file. */
    filename: z.string(),
  })
  .meta({ id: "Transcription" });

const Named = z.object({ id: z.string(), name: z.string() });

export const AudioModels = z.object({ models: z.array(Named) }).meta({ id: "AudioModels" });
export const AudioVoices = z.object({ voices: z.array(Named) }).meta({ id: "AudioVoices" });

const Engine = z.object({
  id: z.string(),
  title: z.string(),
  variables: z.array(z.string()),
  /** Those that are needed and empty. */
  missing: z.array(z.string()),
});

const Section = z.object({
  /** The chosen engine is here and has all settings it needs. */
  is_ready: z.boolean(),
  engines: z.array(Engine),
});

export const AudioEngines = z.object({ tts: Section, stt: Section }).meta({ id: "AudioEngines" });
