import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import type { RequestFacts } from "#kernel/access/authenticator.ts";
import type { Principal } from "#kernel/access/principal.ts";
import { AppError } from "#kernel/errors.ts";
import type { Credential } from "#kernel/http/credential.ts";
import { type Closing, closing } from "#kernel/sockets/closing.ts";
import type { OutgoingEvent } from "./outgoing.ts";

/** One transport's end of a connection. */
export interface Link {
  readonly transport: "plain" | "socket.io";
  /** The frame of an event. */
  toFrame(event: OutgoingEvent): Buffer;
  /** The frame of an event whose answer will come under `id`. */
  toQuestion(id: number, event: string, json: string): string;
  /** Sends one frame; returns how many bytes wait to be sent. */
  send(frame: string | Buffer): number;
  /** Bytes that wait to be sent. */
  waiting(): number;
  close(why: Closing): void;
}

export interface SessionLimits {
  /** Bytes that may wait for a slow reader longer than `slowGraceMs` (promise R16). */
  readonly waitingBytes: number;
  readonly slowGraceMs: number;
  /** Bytes that may not wait at all. */
  readonly mostBytes: number;
  /** How long what the client asked for may take on its way. */
  readonly answerMs: number;
  readonly openCalls: number;
}

const megabyte = 1024 * 1024;
export const sessionLimits: SessionLimits = {
  waitingBytes: megabyte,
  slowGraceMs: 1_000,
  mostBytes: 16 * megabyte,
  // About as long as a connection may go without a sign of life, which waits behind what is being sent.
  answerMs: 20_000,
  openCalls: 100,
};
const lookMs = 20;

/** One open connection of a client. Until `principal` is known it is in no room. */
export class Session {
  readonly id = randomUUID();
  readonly rooms = new Set<string>();
  /** The request facts that its credential is authenticated with. */
  readonly facts: RequestFacts;
  principal: Principal | undefined;
  credential: Credential | undefined;
  /** Epoch milliseconds of the last frame of the client, signs of life of the transport aside. */
  heardAt = Date.now();
  /** Epoch milliseconds of the last look at the credential. */
  verifiedAt = 0;
  readonly #link: Link;
  readonly #limits: SessionLimits;
  readonly #calls = new Map<number, PromiseWithResolvers<unknown>>();
  #lastCall = 0;
  /** Bytes that were sent since the last acknowledgement. */
  #behind = 0;
  #slowTimer: NodeJS.Timeout | undefined;
  #isOpen = true;

  constructor(link: Link, facts: RequestFacts, limits: SessionLimits = sessionLimits) {
    this.#link = link;
    this.facts = facts;
    this.#limits = limits;
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  get transport(): Link["transport"] {
    return this.#link.transport;
  }

  /** Sends an event. A reader that lets too much wait is cut off: it comes back and asks for what it missed. */
  deliver(event: OutgoingEvent): void {
    if (this.#isOpen) {
      this.#send(this.#link.toFrame(event));
    }
  }

  /**
   * Sends what the client asked for. However long that takes, only what comes behind it counts as too much to wait:
   * a whole message would never arrive over a slow link else, because the client would come back and ask for it again.
   */
  acknowledge(frame: string): void {
    if (this.#isOpen) {
      this.#link.send(frame);
      this.#behind = 0;
    }
  }

  /** Resolves when there is room for another acknowledgement. A client that does not read them is cut off. */
  async whenWritable(): Promise<void> {
    const end = Date.now() + this.#limits.answerMs;
    while (this.#isOpen && this.#link.waiting() > this.#limits.waitingBytes) {
      if (Date.now() > end) {
        this.end(closing.slow);
      }
      await pause(lookMs, undefined, { ref: false });
    }
  }

  #send(frame: string | Buffer): void {
    this.#behind += Buffer.byteLength(frame);
    const waiting = this.#toCounted(this.#link.send(frame));
    if (waiting > this.#limits.waitingBytes) {
      this.#checkBacklog(waiting);
    }
  }

  #toCounted(waiting: number): number {
    return Math.min(waiting, this.#behind);
  }

  /** A burst may be more than the network takes at once; a reader that keeps up has taken it a moment later. */
  #checkBacklog(waiting: number): void {
    if (waiting > this.#limits.mostBytes) {
      this.end(closing.slow);
      return;
    }
    this.#slowTimer ??= setTimeout(() => {
      this.#slowTimer = undefined;
      if (this.#toCounted(this.#link.waiting()) > this.#limits.waitingBytes) {
        this.end(closing.slow);
      }
    }, this.#limits.slowGraceMs).unref();
  }

  /** Sends an event and resolves with the client's answer. Rejects when the connection ends or `signal` aborts. */
  async call(event: string, json: string, signal?: AbortSignal): Promise<unknown> {
    if (!this.#isOpen) {
      throw gone();
    }
    if (this.#calls.size >= this.#limits.openCalls) {
      throw new AppError("rate_limited", "The client has too many open questions.");
    }
    signal?.throwIfAborted();
    const id = (this.#lastCall += 1);
    const answer = Promise.withResolvers<unknown>();
    const abort = () => answer.reject(signal?.reason);
    this.#calls.set(id, answer);
    signal?.addEventListener("abort", abort, { once: true });
    try {
      this.#send(this.#link.toQuestion(id, event, json));
      return await answer.promise;
    } finally {
      signal?.removeEventListener("abort", abort);
      this.#calls.delete(id);
    }
  }

  /** Resolves the call with the client's answer; a late answer is dropped. */
  answer(id: number, value: unknown): void {
    this.#calls.get(id)?.resolve(value);
  }

  /** Ends the connection from this side. */
  end(why: Closing): void {
    if (this.#isOpen) {
      this.closed();
      this.#link.close(why);
    }
  }

  /** Marks the connection as ended, by either side. */
  closed(): void {
    this.#isOpen = false;
    clearTimeout(this.#slowTimer);
    for (const answer of this.#calls.values()) {
      answer.reject(gone());
    }
  }
}

/** The error of every call without a session; it does not tell whether the id exists. */
export function gone(): AppError {
  return new AppError("unavailable", "Client session disconnected.");
}
