import { defineSlot } from "#kernel/service.ts";

/** A text that is to be spoken. */
export interface SpeechWish {
  /** At most `maxCharacters` of the engine, in UTF-16 units. */
  readonly text: string;
  /** The engine's own choice when empty. */
  readonly model: string;
  /** Id or name of a voice; the engine's own choice when empty. */
  readonly voice: string;
  readonly signal: AbortSignal;
}

/** Sound on its way. Its format is found out by its first bytes. */
export interface Sound {
  /** Media type as the engine said it; "" when it said none. */
  readonly type: string;
  readonly bytes: AsyncIterable<Uint8Array>;
}

export interface Named {
  readonly id: string;
  readonly name: string;
}

/** The part that engines of both kinds have in common. */
export interface AudioEngine {
  readonly id: string;
  /** Its name, for people. */
  readonly title: string;
  /** Names of the variables that it reads, in the order in which people fill them in. */
  readonly variables: readonly string[];
  /** Those of `variables` that are needed and empty now. */
  missing(): readonly string[];
  /** Models that people may choose from; empty where the engine has no such list. Throws as its other methods do. */
  models(signal: AbortSignal): Promise<readonly Named[]>;
}

/** Speaks texts; administrators choose one by its id (`AUDIO_TTS_ENGINE`). */
export interface SpeechEngine extends AudioEngine {
  readonly maxCharacters: number;
  /** False while its settings ask for a format whose pieces cannot follow each other in one stream, such as WAV. */
  isJoinable(): boolean;
  /** Settings beside model and voice that change the sound, such as the address; keys are none. For the cache. */
  facts(): unknown;
  voices(signal: AbortSignal): Promise<readonly Named[]>;
  /** Throws `invalid` with the engine's own words for a refused wish, else `upstream`, `timeout` or `rate_limited`. */
  speak(wish: SpeechWish): Promise<Sound>;
}

/** The container of a recording, found out by its first bytes. */
export type Container = "wav" | "mp3" | "ogg" | "flac" | "mp4" | "webm" | "aac" | "aiff" | "amr" | "avi";

/** A recording in one request of an engine. */
export interface Recording {
  readonly container: Container;
  /** Such as audio/mpeg; may carry `codecs=`. */
  readonly contentType: string;
  /** A name with the ending of its container; never the person's own. */
  readonly filename: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

export interface TranscriptionWish {
  readonly recording: Recording;
  /** The engine's own choice when empty. */
  readonly model: string;
  /** ISO 639-1 code, such as `de`, or a locale, such as `de-CH`; undefined lets the engine find out. */
  readonly language: string | undefined;
  readonly signal: AbortSignal;
}

/** Bounds of one request of an engine; longer recordings are cut into pieces. */
export interface TranscriptionLimits {
  readonly bytes: number;
  /** Null where bytes alone count. */
  readonly seconds: number | null;
  readonly containers: ReadonlySet<Container>;
}

/** Writes recordings down; administrators choose one by its id (`AUDIO_STT_ENGINE`). */
export interface TranscriptionEngine extends AudioEngine {
  limits(model: string): TranscriptionLimits;
  /** Resolves to the words, "" for silence. Throws as `SpeechEngine.speak` does. */
  transcribe(wish: TranscriptionWish): Promise<string>;
}

/** Engines beside those of the platform; an id that is taken is refused when the process starts. */
export const speechEngines = defineSlot<SpeechEngine>("audio.speech");
export const transcriptionEngines = defineSlot<TranscriptionEngine>("audio.transcription");
