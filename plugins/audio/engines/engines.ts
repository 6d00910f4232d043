import type { SpeechEngine, TranscriptionEngine } from "../service.ts";
import { createOpenAiSpeech } from "./openai-speech.ts";
import { createOpenAiTranscription } from "./openai-transcription.ts";
import type { EngineParts } from "./parts.ts";

/** The engines of the platform, in the order in which people see them. */
export function createSpeechEngines(parts: EngineParts): readonly SpeechEngine[] {
  return [createOpenAiSpeech(parts)];
}

export function createTranscriptionEngines(parts: EngineParts): readonly TranscriptionEngine[] {
  return [createOpenAiTranscription(parts)];
}
