import type { ShortArguments } from "./arguments.ts";
import { Departures } from "./departures.ts";
import { fromText, toOutcome, withContents } from "../host/ending.ts";
import { limits } from "../limits.ts";
import type { Message, Receiver } from "../host/message.ts";
import type { Overruns } from "../host/overruns.ts";
import type { Pool } from "../host/pool.ts";
import type { Realm } from "../host/realm.ts";
import { type CallOptions, type Json, SandboxError, type Script } from "#kernel/sandbox.ts";
import { keyOf } from "../host/source.ts";
import { threadMs } from "../host/thread-time.ts";
import { createTries, type Tries } from "./tries.ts";

/** A short call. Exactly one of the three ways out is taken, once. */
export interface QuickCall {
  readonly options: CallOptions;
  readonly args: ShortArguments;
  done(answer: Json | undefined): void;
  failed(error: unknown): void;
  /** It was not short, or cannot run here: nothing of it has been done. */
  afresh(): void;
}

/** Runs short calls on the event loop's own thread, a few of one script in one crossing. */
export interface QuickLane {
  /** Whether calls of this source are worth a try. Throws SandboxError when the source is too long. */
  takes(script: Script): boolean;
  begin(script: Script, call: QuickCall): void;
}

export function createQuickLane(pool: Pool, overruns: Pick<Overruns, "add">): QuickLane {
  const lanes = new WeakMap<Realm, Queue>();
  const tries = createTries();
  const push = (realm: Realm, call: QuickCall) => {
    let queue = lanes.get(realm);
    if (queue === undefined) {
      queue = new Queue(realm, tries, overruns);
      lanes.set(realm, queue);
    }
    queue.push(call);
  };

  return {
    takes: tries.takes,
    begin(script, call) {
      const realm = pool.find(script, "streams");
      if (realm) {
        push(realm, call);
        return;
      }
      pool.realm(script, "streams").then(
        (opened) => push(opened, call),
        () => {
          // What is wrong with it is found out where there is more time.
          tries.leave(script.id, keyOf(script));
          call.afresh();
        },
      );
    },
  };
}

/** Calls of one script that wait to cross (`departures.ts`). */
class Queue {
  readonly #realm: Realm;
  readonly #tries: Tries;
  readonly #overruns: Pick<Overruns, "add">;
  /** A caller waits for each: what waits with it is what came in the same turn of the event loop. */
  readonly #departures = new Departures<Entry>((entries) => this.#cross(entries));

  constructor(realm: Realm, tries: Tries, overruns: Pick<Overruns, "add">) {
    this.#realm = realm;
    this.#tries = tries;
    this.#overruns = overruns;
  }

  push(call: QuickCall): void {
    this.#departures.add(new Entry(this.#realm, call));
    this.#departures.hurry(false, 0);
  }

  #cross(entries: readonly Entry[]): void {
    const realm = this.#realm;
    const ready = entries.filter((entry) => entry.isReady());
    if (ready.length === 0) {
      return;
    }
    const before = threadMs();
    let error: unknown;
    try {
      const calls: (string | number)[] = [ready.length];
      ready.forEach((entry) => entry.addTo(calls));
      realm.enterAll(calls, limits.quickMs);
    } catch (thrown) {
      error = thrown;
    }
    const isTimeout = error instanceof SandboxError && error.kind === "timeout";
    const unfinished = ready.filter((entry) => !entry.finish(isTimeout ? undefined : error));
    if (isTimeout) {
      const heldMs = threadMs() - before;
      if (heldMs > limits.heldMs) {
        this.#overruns.add(realm.id, "", heldMs);
      }
      // On a busy machine others took the time, and nothing is learned.
      if (heldMs >= limits.quickMs / 2) {
        this.#tries.late(realm.id, realm.key);
      }
    } else if (unfinished.length > 0) {
      this.#tries.leave(realm.id, realm.key);
    } else {
      this.#tries.good(realm.id, realm.key);
    }
    if (isTimeout || unfinished.length > 0) {
      // What was broken off, or waits for what never comes, must not trouble the next call.
      realm.retire();
    }
    for (const entry of unfinished) {
      entry.afresh();
    }
  }
}

let serial = 0;

class Entry implements Receiver {
  /** Characters that cross. */
  readonly length: number;
  readonly #id = ++serial;
  readonly #realm: Realm;
  readonly #call: QuickCall;
  readonly #written: [level: string, text: string][] = [];
  #ending: Message | undefined;
  /** It asked for what is not to be had here: a host function, or room (inside/guards.js). */
  #hasAsked = false;
  #isOver = false;

  constructor(realm: Realm, call: QuickCall) {
    this.#realm = realm;
    this.#call = call;
    this.length = call.args.length + (call.options.shared?.length ?? 0);
    realm.calls.set(this.#id, this);
  }

  /** Adds what crosses, as inside/together.js reads it. */
  addTo(list: (string | number)[]): void {
    const { args, options } = this.#call;
    const { texts, places, contents } = args;
    list.push(this.#id, texts.length, places.length, ...places, toKind(options), options.shared ?? "");
    list.push(...texts, ...contents);
  }

  /** False when it ended while it was waiting, or cannot run in this context any more. */
  isReady(): boolean {
    const { signal } = this.#call.options;
    if (signal?.aborted) {
      this.fail(signal.reason);
    } else if ((this.#realm.isClosed || this.#realm.isRetired) && !this.#isOver) {
      this.afresh();
    }
    return !this.#isOver;
  }

  receive(message: Message): void {
    if (message.kind === "host" || message.kind === "heavy") {
      this.#hasAsked = true;
    } else if (message.kind !== "timer") {
      this.#ending ??= message;
    }
  }

  hold(level: string, text: string): void {
    this.#written.push([level, text]);
  }

  member(name: string): string | undefined {
    const text = this.#call.options.later?.[name]?.();
    if (text === undefined || text.length > limits.quickLength) {
      this.#hasAsked = true;
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

  afresh(): void {
    this.#written.length = 0;
    this.#close();
    this.#call.afresh();
  }

  /** Hands over how the call ended; `error` is what broke the entry. False when it has not ended. */
  finish(error: unknown): boolean {
    const ending = this.#ending;
    if (this.#isOver) {
      return true;
    }
    // Nothing of what it asked is done yet, so that the call can begin again where there is time to answer.
    if (this.#hasAsked) {
      return false;
    }
    if (error !== undefined) {
      this.fail(error);
      return true;
    }
    if (ending === undefined) {
      return false;
    }
    const { failure, answer } = toOutcome(this.#realm, ending, (text) => this.#toAnswer(text, ending.apart));
    if (failure) {
      this.fail(failure);
    } else {
      this.#close();
      this.#call.done(answer);
    }
    return true;
  }

  #toAnswer(text: string | undefined, apart: readonly number[] = []): Json | undefined {
    const { args, options } = this.#call;
    return apart.length > 0 ? withContents(fromText(text), apart, args.contents) : fromText(text, options);
  }

  #close(): void {
    this.#isOver = true;
    this.#realm.calls.delete(this.#id);
    for (const [level, text] of this.#written) {
      this.#realm.log(level, text);
    }
    this.#realm.leave();
  }
}

/** What calls of one hook have in common, as inside/together.js reads it. */
function toKind({ name, host, later = {}, isUnread = false }: CallOptions): string {
  return JSON.stringify([isUnread, name, Object.keys(later), host.names.join(" ")]);
}
