/** A reply, as those who read it aloud see it; every read is followed. */
export interface ShownReply {
  readonly id: string;
  /** Markdown of what it says, without reasoning and calls of tools. */
  readonly text: string;
  readonly isWriting: boolean;
  /** Why it ended early. */
  readonly failure: string | undefined;
}

/** An open chat, as those who talk in it see it; every read is followed. */
export interface TalkedChat {
  readonly isRunning: boolean;
  /** A tool or a model waits for a decision or an answer of the person. */
  readonly isAsking: boolean;
  /** The newest reply in sight. */
  readonly lastReply: ShownReply | undefined;
  /** Sends a spoken message (`features.voice`); rejects with the reason where it cannot go out. */
  say(text: string): Promise<void>;
  /** Stops the reply that is written. */
  stop(): Promise<void>;
}
