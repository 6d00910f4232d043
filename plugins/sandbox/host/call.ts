import { AppError } from "#kernel/errors.ts";
import type { Logger } from "#kernel/log.ts";
import { fromText, tooLong, parseResult, unreadable } from "./call-result.ts";
import { limits } from "../limits.ts";
import { type Message, type Receiver, toArguments, toEntry, toLazyLine } from "./message.ts";
import type { Realm } from "./realm.ts";
import { type CallOptions, type HostFunction, type Json, SandboxError } from "#kernel/sandbox.ts";
import { hasMoreValues } from "../hardening/size.ts";
import { isBatches, Sources } from "./sources.ts";

/** The outcome of a call. Exactly one of `done` and `failed` is called, once. */
export interface Outcome {
  done(answer: Json | undefined): void;
  failed(error: unknown): void;
  /** The answer is a generator, whose items wait to be pulled. */
  begun?(): void;
  /** Items that came; `isFull` when the pull is over. */
  items?(items: readonly Json[], isFull: boolean): void;
}

export interface CallParts {
  readonly realm: Realm;
  readonly options: CallOptions;
  /** The JSON of each argument, where it is written already. */
  readonly args?: readonly string[] | undefined;
  readonly outcome: Outcome;
  readonly log: Logger;
  /** Told when the code, and not the host, took too long. */
  overran(realm: Realm, error: SandboxError): void;
}

let serial = 0;

/** One call: hands host functions, timers and the answer to and fro until one side ends it. */
export class Call implements Receiver {
  readonly #id = ++serial;
  readonly #parts: CallParts;
  readonly #timers = new Map<number, NodeJS.Timeout>();
  readonly #sources = new Sources();
  #host: Readonly<Record<string, HostFunction>> | undefined;
  /** Characters of its arguments. */
  #given = 0;
  #deadline: NodeJS.Timeout | undefined;
  /** When the deadline is, on the clock of `performance`. */
  #until = Number.POSITIVE_INFINITY;
  /** Questions whose answer has not crossed. */
  #asked = 0;
  #isOver = false;
  /** It was ended from here, while its code may have had more to do. */
  #isStopped = false;

  constructor(parts: CallParts) {
    this.#parts = parts;
  }

  start(isIterated: boolean): void {
    const { realm, options } = this.#parts;
    const { signal, shared = "" } = options;
    if (signal?.aborted) {
      this.#parts.outcome.failed(signal.reason);
      return;
    }
    const args = this.#parts.args ?? toArguments(options.args);
    const lazyLine = toLazyLine(options.lazyMembers);
    const given = [...args, shared, lazyLine];
    const refusal = toRefusal(given);
    if (refusal !== undefined) {
      this.#parts.outcome.failed(new SandboxError("value", refusal));
      return;
    }
    this.#given = given.reduce((sum, { length }) => sum + length, 0);
    realm.cell.given += this.#given;
    realm.calls.set(this.#id, this);
    signal?.addEventListener("abort", this.#onAbort);
    this.within(options.deadlineMs ?? (isIterated ? limits.itemMs : limits.callMs));
    const entry = toEntry(this.#id, options, { args, lazyLine, isIterated });
    void this.#enter("begin", (timeout) => realm.begin(entry, timeout));
  }

  /** The call ends with a timeout when nothing calls `within` or `wait` in that time. */
  within(ms: number): void {
    clearTimeout(this.#deadline);
    this.#until = performance.now() + ms;
    this.#deadline = setTimeout(() => this.#expire(ms), ms);
  }

  /** Stops the clock: the reader of the items is busy. */
  wait(): void {
    clearTimeout(this.#deadline);
    this.#until = Number.POSITIVE_INFINITY;
  }

  pull(count: number): void {
    void this.#run("pull", [this.#id, count]);
  }

  /** Ends a call whose answer is not wanted any more. */
  stop(): void {
    if (!this.#isOver) {
      this.#isStopped = true;
      this.#close();
      void this.#run("end", [this.#id]);
    }
  }

  fail(error: unknown): void {
    if (!this.#isOver) {
      this.#close();
      this.#parts.outcome.failed(error);
    }
  }

  receive({ kind, text, name, at }: Message): void {
    const { realm, outcome } = this.#parts;
    if (this.#isOver) {
      return;
    }
    if (kind === "host") {
      void this.#ask(String(name), text ?? "[]", at ?? 0);
    } else if (kind === "timer") {
      this.#setTimer(at ?? 0, Number(name));
    } else if (kind === "begun") {
      outcome.begun?.();
    } else if (kind === "items") {
      if ((text?.length ?? 0) > limits.answerLength) {
        this.stop();
        outcome.failed(tooLong());
        return;
      }
      const { failure, answer } = parseResult(realm, { kind: "done", text });
      if (failure || !Array.isArray(answer)) {
        this.stop();
        outcome.failed(failure ?? unreadable());
        return;
      }
      outcome.items?.(answer as readonly Json[], name === "full");
    } else {
      const { failure, answer } = parseResult(realm, { kind, text });
      this.#close();
      if (this.#asked > 0) {
        void this.#run("end", [this.#id]);
      }
      if (failure) {
        outcome.failed(failure);
      } else {
        outcome.done(answer);
      }
    }
  }

  readonly #onAbort = (): void => {
    if (!this.#isOver) {
      this.stop();
      this.#parts.outcome.failed(this.#parts.options.signal?.reason);
    }
  };

  #expire(ms: number): void {
    const { realm, outcome, overran } = this.#parts;
    const error = new SandboxError("timeout", `The code did not answer within ${ms / 1000} s.`);
    // It may wait for another call, which waits for the host.
    const isOwnFault = realm.asked === 0;
    this.stop();
    if (isOwnFault) {
      overran(realm, error);
    }
    outcome.failed(error);
  }

  #close(): void {
    this.#isOver = true;
    clearTimeout(this.#deadline);
    for (const timer of this.#timers.values()) {
      clearTimeout(timer);
    }
    this.#timers.clear();
    this.#sources.close();
    this.#parts.options.signal?.removeEventListener("abort", this.#onAbort);
    this.#parts.realm.calls.delete(this.#id);
    this.#parts.realm.cell.given -= this.#given;
    // The message that ended the call may be on its way before the entry that sent it has returned.
    setImmediate(() => this.#parts.realm.leave());
  }

  #run(entry: Parameters<Realm["run"]>[0], args: Parameters<Realm["run"]>[1]): Promise<void> {
    return this.#enter(entry, (timeout) => this.#parts.realm.run(entry, args, timeout));
  }

  async #enter(entry: string, run: (timeout: number) => Promise<void>): Promise<void> {
    const { realm, overran } = this.#parts;
    try {
      // Code whose time is over soon must not hold the isolate, which others of its owner wait for, any longer.
      const left = Math.ceil(this.#until - performance.now());
      await run(Math.min(limits.sliceMs, Math.max(left, limits.streamMs)));
    } catch (error) {
      if (error instanceof SandboxError && error.kind === "timeout" && !realm.cell.isGone) {
        if (entry === "end" || this.#isStopped) {
          // Code on its way out has little time and is not blamed, but may have been broken off.
          realm.retire();
        } else {
          overran(realm, error);
        }
      }
      this.fail(error);
    }
  }

  async #ask(name: string, text: string, at: number): Promise<void> {
    const { log, realm } = this.#parts;
    realm.asked += 1;
    this.#asked += 1;
    let answer: [isOk: boolean, text: string | undefined, isSource?: boolean];
    try {
      const args = fromText(text, "The arguments are");
      const value = await this.#toAnswer(name, Array.isArray(args) ? args : []);
      if (isBatches(value)) {
        this.#sources.add(at, value);
        answer = [true, undefined, true];
      } else {
        answer = [true, JSON.stringify(value)];
      }
    } catch (error) {
      answer = [false, toShown(error)];
      if (!(error instanceof AppError) && !this.#isOver) {
        log.error({ err: error, function: realm.id, host: name }, "a host function failed");
      }
    }
    realm.asked -= 1;
    if (!this.#isOver) {
      await this.#run("answer", [this.#id, at, ...answer]);
    }
    this.#asked -= 1;
  }

  async #toAnswer(name: string, args: readonly Json[]) {
    // An entry of the bridge itself, which no host function's name can take.
    if (name === "source/next") {
      return await this.#sources.next(Number(args[0]));
    }
    if (name === "source/end") {
      this.#sources.end(Number(args[0]));
      return undefined;
    }
    this.#host ??= this.#parts.options.host.open();
    return Object.hasOwn(this.#host, name) ? await this.#host[name]?.(...args) : undefined;
  }

  #setTimer(at: number, ms: number): void {
    const delay = Math.min(Math.max(limits.timerMs, ms), limits.callMs * 10);
    const timer = setTimeout(() => {
      this.#timers.delete(at);
      void this.#run("tick", [this.#id, at]);
    }, delay);
    this.#timers.set(at, timer);
  }
}

/** Why arguments are not handed over. Those of a request are its caller's, and no fault of the code. */
function toRefusal(texts: readonly string[]): string | undefined {
  const { argumentsLength, argumentsValues } = limits;
  if (texts.reduce((sum, { length }) => sum + length, 0) > argumentsLength) {
    return "The arguments are too long for the sandbox.";
  }
  return texts.some((text) => hasMoreValues(text, argumentsValues))
    ? `The arguments hold more than ${argumentsValues} values, which is too much for the sandbox.`
    : undefined;
}

/** The text of a host function's failure for the code: an AppError's own, never an inner one. */
function toShown(error: unknown): string {
  if (error instanceof AppError || error instanceof SandboxError) {
    return error.message;
  }
  return error instanceof DOMException && error.name === "AbortError"
    ? "The call was ended."
    : "The host failed.";
}
