import { defineService } from "#kernel/service.ts";

/** A question to one open client. */
export interface Question {
  readonly userId: string;
  readonly sessionId: string;
  /** Name of the event that carries it, such as `events`. */
  readonly event: string;
  readonly payload: object;
}

export interface AskOptions {
  /** WEBSOCKET_EVENT_CALLER_TIMEOUT when left out. */
  readonly timeoutMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Callbacks of a channel. */
export interface ChannelEnds {
  /** One event of the client, as it sent it. */
  onData(data: unknown): void;
  /** The session, or the replica that held it, has ended. */
  onGone(): void;
}

/** Lets one session stream to the server, by events of a name that is made for it alone. */
export interface Channel {
  /** The event that the client emits. */
  readonly name: string;
  close(): void;
}

/** Reaches clients that keep a connection open, on whichever replica that is. */
export interface Hub {
  /**
   * Sends an event to every session in `room` (`toRoom`); what one caller emits arrives in that order. `instance_id` is
   * added to the payload. `except` names a session that is left out, such as the one it came from.
   */
  emit(room: string, event: string, payload: object, options?: { except?: string }): void;
  /** False when certainly no session is in `room`, so that what would be emitted need not be made. */
  isHeard(room: string): boolean;
  /**
   * Asks one session and resolves with its answer. Rejects with `unavailable` when it is no open session of that user,
   * with `timeout` when no answer comes in time, and with the signal's reason when that aborts.
   */
  ask(question: Question, options?: AskOptions): Promise<unknown>;
  /** Opens a way for one session to stream to the server; the question that asks for it tells the channel's name. */
  channel(to: { readonly userId: string; readonly sessionId: string }, ends: ChannelEnds): Channel;
  /** Adds every session of a user to a room, or removes it. The caller has checked that the user may. */
  join(userId: string, room: string): void;
  leave(userId: string, room: string): void;
  /**
   * Takes the sessions of this replica out of the rooms of channels that their people may not be in any more, and into
   * those that they may be in now.
   */
  renewRooms(): Promise<void>;
  /** True when a user has an open session on this replica. */
  isHere(userId: string): boolean;
  /** Ids of the users whose clients on this replica gave a sign of life lately (contract 3.3). */
  activeUsers(): string[];
  /** Registers this replica's answers to `collect` and `find`. */
  contribute(topic: string, answer: (question: unknown) => unknown): void;
  /** The answers of all replicas that answer within a second, this one's first. */
  collect(topic: string): Promise<unknown[]>;
  /** The first answer of any replica that is not null; undefined when none knows within a second. */
  find(topic: string, question: unknown): Promise<unknown>;
}

export const hub = defineService<Hub>("hub");
