import type { Attachment } from "#plugins/web/kit/web.ts";

/** Tools and features that are on for the messages of a chat. */
export interface ChosenTools {
  /** Workspace tools and tool servers. */
  readonly toolIds: readonly string[];
  /** Names of features of requests, such as `web_search`. */
  readonly features: readonly string[];
  /** Built-in tools that the model is not offered. */
  readonly excluded: readonly string[];
  readonly terminalId: string | undefined;
}

/** What the next message carries beside its text. */
export interface Sending {
  readonly text: string;
  readonly files: readonly Attachment[];
  readonly models: readonly string[];
  /** As they are when it is written; left out, those of the chat. */
  readonly tools?: ChosenTools;
  /** Said in a call: the model is told that its reply is heard (`features.voice`). */
  readonly isSpoken?: boolean;
}

/** A message that waits: for the run before it, or for the server to be reachable. */
export interface Queued extends Sending {
  readonly id: string;
  readonly state: "queued" | "sending" | "offline";
}

/** Questions that did not reach the server at their first try. */
export interface Unsent {
  /** Epoch milliseconds of the next try; undefined while one is made. */
  readonly retryAt: number | undefined;
  /** The server has them all the same, and has not answered yet. */
  readonly isHeld: boolean;
}

/** What the server did not take. */
export interface Refusal {
  readonly reason: string;
  /** A new question, which is out of the chat; undefined where an old one was to be answered. */
  readonly question:
    | { readonly content: string; readonly files?: readonly Attachment[] | undefined }
    | undefined;
  /** Epoch milliseconds from which the server takes it, where it says so. */
  readonly retryAt: number | undefined;
}
