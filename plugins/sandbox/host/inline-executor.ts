import { type CallOptions, type Json, SandboxError, type Script } from "#kernel/sandbox.ts";
import { limits } from "../limits.ts";
import { parseResult } from "./call-result.ts";
import { createInlinePolicy, type InlinePolicy } from "./inline-policy.ts";
import { type Message, type Receiver, toEntry } from "./message.ts";
import type { Overruns } from "./overruns.ts";
import type { Pool } from "./pool.ts";
import type { Realm } from "./realm.ts";
import { keyOf } from "./source.ts";
import { threadMs } from "./thread-time.ts";

// P7 (sandboxed inlet and outlet): a call on the event loop's own thread costs a tenth of one on another thread.

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

/** Runs short calls on the event loop's own thread. */
export interface InlineExecutor {
  /** Whether calls of this source are worth a try. Throws SandboxError when the source is too long. */
  allows(script: Script): boolean;
  run(script: Script, call: InlineCall): void;
}

export function createInlineExecutor(pool: Pool, overruns: Pick<Overruns, "add">): InlineExecutor {
  const policy = createInlinePolicy();
  const turns = createTurns();
  const start = (realm: Realm, call: InlineCall) =>
    turns.run(() => runInline(new Entry(realm, call), { policy, overruns }));

  return {
    allows: policy.allows,
    run(script, call) {
      const realm = pool.find(script, "streams");
      if (realm) {
        start(realm, call);
        return;
      }
      pool.realm(script, "streams").then(
        (opened) => start(opened, call),
        () => {
          // What is wrong with it is found out where there is more time.
          policy.exclude(script.id, keyOf(script));
          call.fallBackToThread();
        },
      );
    },
  };
}

/** Runs calls behind what the event loop has ready; those that do not fit into their share of a turn wait for the next. */
function createTurns() {
  const waiting: (() => void)[] = [];
  let isScheduled = false;
  const schedule = () => {
    if (!isScheduled && waiting.length > 0) {
      isScheduled = true;
      setImmediate(next);
    }
  };
  const next = () => {
    isScheduled = false;
    const until = performance.now() + limits.inlineTurnMs;
    do {
      waiting.shift()?.();
    } while (waiting.length > 0 && performance.now() < until);
    schedule();
  };
  return {
    run(call: () => void): void {
      waiting.push(call);
      schedule();
    },
  };
}

function runInline(
  entry: Entry,
  { policy, overruns }: { readonly policy: InlinePolicy; readonly overruns: Pick<Overruns, "add"> },
): void {
  if (!entry.isReady()) {
    return;
  }
  const { realm } = entry;
  const before = threadMs();
  let error: unknown;
  try {
    entry.begin();
  } catch (thrown) {
    error = thrown;
  }
  const isTimeout = error instanceof SandboxError && error.kind === "timeout";
  const isFinished = entry.finish(isTimeout ? undefined : error);
  if (isTimeout) {
    const heldMs = threadMs() - before;
    if (heldMs > limits.heldMs) {
      overruns.add(realm.id, "", heldMs);
    }
    // On a busy machine others took the time, and nothing is learned.
    if (heldMs >= limits.inlineMs / 2) {
      policy.timedOut(realm.id, realm.key);
    }
  } else if (isFinished) {
    policy.succeeded(realm.id, realm.key);
  } else {
    policy.exclude(realm.id, realm.key);
  }
  if (isTimeout || !isFinished) {
    // What was broken off, or waits for what never comes, must not trouble the next call.
    realm.retire();
  }
  if (!isFinished) {
    entry.fallBack();
  }
}

let serial = 0;

/** One call in the context of its script. */
class Entry implements Receiver {
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
