import type { Principal } from "#kernel/access/principal.ts";

/** What a run knows of its reply; keys that are left out stay as they are. */
export interface ReplyState {
  readonly content?: string;
  readonly output?: readonly unknown[];
  readonly usage?: Readonly<Record<string, unknown>>;
  // Of lists only entries that are new: others may add to the stored ones as well. New sources and statuses come behind
  // those, new files and embeds before them (contract §3.4).
  readonly sources?: readonly unknown[];
  readonly files?: readonly unknown[];
  readonly embeds?: readonly unknown[];
  readonly statusHistory?: readonly unknown[];
  readonly error?: unknown;
  /** Keys of the wire without a place of their own, such as `selectedModelId`; those that are there stay. */
  readonly extra?: Readonly<Record<string, unknown>>;
}

/** The lists of a reply. */
export type ReplyListKey = "sources" | "files" | "embeds" | "statusHistory";

/** The message that a run writes. */
export interface Reply {
  readonly chatId: string;
  readonly messageId: string;
  readonly runId: string;
}

export interface Checkpoint extends Reply {
  readonly state: ReplyState;
  /** Number of the message's last event that the state includes. */
  readonly seq: number;
  /**
   * What the output has grown by since the checkpoint with the number `after`; `state` has neither content nor output
   * then. Not stored when another one was the last.
   */
  readonly grown?: { readonly after: number; readonly items: readonly GrownItem[] };
  /**
   * For each entry of the state's lists the number of the event that showed it: one that the stored message includes
   * already is not added again. Without numbers every entry is new.
   */
  readonly numbers?: Partial<Readonly<Record<ReplyListKey, readonly number[]>>>;
}

/** An item of a reply that is new or has changed, or what was added at its end. */
export interface GrownItem {
  /** Its place in the output. */
  readonly at: number;
  /** The item as a whole. */
  readonly item?: unknown;
  /** More text, arguments or words of a refusal, by the kind of the item. */
  readonly text?: string;
  /** More `reasoning_details`. */
  readonly details?: readonly unknown[];
}

/** A call of a tool in a stored reply. */
export interface CallPlace extends Pick<Reply, "chatId" | "messageId"> {
  readonly callId: string;
}

/** A message whose run is gone. */
export interface InterruptedReply extends Reply {
  readonly userId: string;
  readonly chat: { readonly title: string; readonly folderId: string | null };
  /** A number that no event of the message has had. */
  readonly seq: number;
}

/**
 * The messages that runs write, and what events leave behind in messages. Everything trusts that the caller was
 * authorised.
 */
export interface Replies {
  /**
   * Gives a message to a run: from now on only the run writes content, output, usage and done. What an earlier run
   * left goes unless `keeps`. Resolves to the number of the message's last event, or to undefined when the message is
   * gone or another run has it.
   */
  begin(reply: Reply & { readonly keeps?: boolean }): Promise<number | undefined>;
  /**
   * Stores what runs have so far, all in one statement; resolves to the ids of the runs whose state was stored: their
   * message is still theirs. Meant to be called once a second.
   */
  checkpoint(checkpoints: readonly Checkpoint[]): Promise<Set<string>>;
  /** Ids of those runs whose message is still theirs. */
  held(replies: readonly Reply[]): Promise<Set<string>>;
  /**
   * Stores the last state, marks the message done and gives it back; false when it was not the run's any more. May be
   * called again when it is not known whether it went through.
   */
  finish(checkpoint: Checkpoint): Promise<boolean>;
  /**
   * The question that a call still shows whose run was interrupted while it waited; undefined when there is none, or a
   * run writes the message.
   */
  waitingQuestion(message: CallPlace): Promise<unknown>;
  /**
   * Stores what a person answered to such a call, as its result: the reply can be continued from there. False when the
   * question is not there any more.
   */
  answerWaiting(message: CallPlace, result: Readonly<Record<string, unknown>>): Promise<boolean>;
  /** Stores the number of the message's last event, for events that follow the end of its run. */
  saveLastSeq(reply: Pick<Reply, "chatId" | "messageId"> & { readonly seq: number }): Promise<void>;
  /**
   * Marks the messages of runs that are gone done and interrupted, placeholders that such a run never began to write
   * among them; partial text stays. Resolves to them.
   */
  interrupt(replies: readonly Reply[]): Promise<InterruptedReply[]>;
  /**
   * Stores what an event of contract §3.4 leaves behind in a message of the owner's, or in its chat; resolves to whether
   * something was stored. Nothing is while a run writes the text that the event is about. Throws `invalid` for data
   * that the type does not have, `too_large` when the message is full.
   */
  applyEvent(
    owner: Principal,
    place: { readonly chatId: string; readonly messageId: string },
    event: { readonly type: string; readonly data?: unknown },
  ): Promise<boolean>;
  /** Notes files of the owner, as entries of a message's `files` name them, as files of the chat. */
  linkFiles(
    owner: Principal,
    place: Pick<Reply, "chatId" | "messageId">,
    entries: readonly unknown[],
  ): Promise<void>;
  /** Keeps suggestions of what to say next with a message; false when the message is gone. */
  suggest(message: Pick<Reply, "chatId" | "messageId">, followUps: readonly string[]): Promise<boolean>;
}
