import type { CallOptions, Json } from "#kernel/sandbox.ts";
import { limits } from "../limits.ts";
import { parseResult } from "./call-result.ts";
import { type Message, type Receiver, toEntry } from "./message.ts";
import type { Realm } from "./realm.ts";

/** A short call. Exactly one of the three outcomes is called, once. */
export interface InlineCall {
  readonly options: CallOptions;
  /** The JSON of each argument. */
  readonly args: readonly string[];
  done(answer: Json | undefined): void;
  failed(error: unknown): void;
  /** The call was not short, or cannot run here: nothing that it asked for has been done. */
  fallBackToThread(): void;
}

let serial = 0;

/** One call in the context of its script. */
export class InlineEntry implements Receiver {
  readonly realm: Realm;
  readonly #id = ++serial;
  readonly #call: InlineCall;
  readonly #lines: [level: string, text: string][] = [];
  #ending: Message | undefined;
  /** The code asked for what is not to be had here: a host function, or room (hardening/guards.js). */
  #needsThread = false;
  #isOver = false;

  constructor(realm: Realm, call: InlineCall) {
    this.realm = realm;
    this.#call = call;
    realm.calls.set(this.#id, this);
  }

  /** False when the call ended while it was waiting, or cannot run in this context any more. */
  isReady(): boolean {
    const { signal } = this.#call.options;
    if (signal?.aborted) {
      this.fail(signal.reason);
    } else if ((this.realm.isClosed || this.realm.isRetired) && !this.#isOver) {
      this.fallBack();
    }
    return !this.#isOver;
  }

  begin(): void {
    const { options, args } = this.#call;
    const lazyLine = Object.keys(options.lazyMembers ?? {}).join("\t");
    this.realm.beginInline(toEntry(this.#id, options, { args, lazyLine }), limits.inlineMs);
  }

  receive(message: Message): void {
    if (message.kind === "host" || message.kind === "heavy") {
      this.#needsThread = true;
    } else if (message.kind !== "timer") {
      this.#ending ??= message;
    }
  }

  hold(level: string, text: string): void {
    this.#lines.push([level, text]);
  }

  member(name: string): string | undefined {
    const text = this.#call.options.lazyMembers?.[name]?.();
    if (text === undefined || text.length > limits.inlineLength) {
      this.#needsThread = true;
      return undefined;
    }
    return text;
  }

  fail(error: unknown): void {
    if (!this.#isOver) {
      this.#close();
      this.#call.failed(error);
    }
  }

  fallBack(): void {
    this.#lines.length = 0;
    this.#close();
    this.#call.fallBackToThread();
  }

  /** Hands over how the call ended; `error` is what broke the entry. False when it has not ended. */
  finish(error: unknown): boolean {
    if (this.#isOver) {
      return true;
    }
    // Nothing that it asked for is done yet, so that the call can begin again where there is time to answer.
    if (this.#needsThread) {
      return false;
    }
    if (error !== undefined) {
      this.fail(error);
      return true;
    }
    if (this.#ending === undefined) {
      return false;
    }
    const { failure, answer } = parseResult(this.realm, this.#ending);
    if (failure) {
      this.fail(failure);
    } else {
      this.#close();
      this.#call.done(answer);
    }
    return true;
  }

  #close(): void {
    this.#isOver = true;
    this.realm.calls.delete(this.#id);
    for (const [level, text] of this.#lines) {
      this.realm.log(level, text);
    }
    this.realm.leave();
  }
}
