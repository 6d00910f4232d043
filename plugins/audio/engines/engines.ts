import type { SpeechEngine, TranscriptionEngine } from "../service.ts";
import { createAzureSpeech } from "./azure-speech.ts";
import { createAzureTranscription } from "./azure-transcription.ts";
import { createDeepgram } from "./deepgram.ts";
import { createElevenLabs } from "./elevenlabs.ts";
import { createMistralSpeech } from "./mistral-speech.ts";
import { createMistralTranscription } from "./mistral-transcription.ts";
import { createOpenAiSpeech } from "./openai-speech.ts";
import { createOpenAiTranscription } from "./openai-transcription.ts";
import type { EngineParts } from "./parts.ts";

/** The engines of the platform, in the order in which people see them. */
export function createSpeechEngines(parts: EngineParts): readonly SpeechEngine[] {
  return [
    createOpenAiSpeech(parts),
    createElevenLabs(parts),
    createAzureSpeech(parts),
    createMistralSpeech(parts),
  ];
}

export function createTranscriptionEngines(parts: EngineParts): readonly TranscriptionEngine[] {
  return [
    createOpenAiTranscription(parts),
    createDeepgram(parts),
    createAzureTranscription(parts),
    createMistralTranscription(parts),
  ];
}
