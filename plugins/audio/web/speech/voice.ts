/** A piece of text on its way to the ear. */
export interface Utterance {
  /** Resolves when it was heard to its end, or the voice was stopped; rejects with the reason in words. */
  play(): Promise<void>;
}

/** Speaks one text after the other. */
export interface Voice {
  /** Begins to make the sound, without playing it. */
  prepare(text: string): Utterance;
  pause(): void;
  resume(): void;
  setRate(rate: number): void;
  /** Ends what is played; nothing is played afterwards. */
  stop(): void;
}

export interface VoiceOptions {
  /** Factor: 0.5 to 2. */
  readonly rate: number;
  /** Id of the engine's voice, or the address of a voice of the browser; "" for the first choice. */
  readonly voice: string;
}
