import type ivm from "isolated-vm";
import { type BootedContext, type Lane, openContext } from "./bridge-functions.ts";
import { limits } from "../limits.ts";
import { SandboxError } from "#kernel/sandbox.ts";
import { makeIsolate, type WarmIsolate } from "./warm-isolates.ts";

/** A context as its isolate sees it. */
export interface Resident {
  readonly id: string;
  /** New calls do not come to it. */
  readonly isRetired: boolean;
  isIdle(): boolean;
  failAll(error: SandboxError): void;
}

// A built-in that runs on and on cannot be stopped, and the end of the process would wait for its thread.
const stuck = new Set<object>();
process.on("exit", () => {
  if (stuck.size > 0) {
    process.kill(process.pid, "SIGKILL");
  }
});

/**
 * One isolate of one owner with the contexts in it. It is gone when it ran out of memory or did not answer. Calls run on
 * threads beside the event loop. Stream hooks run on the event loop's own thread, in an isolate of their own: entering
 * one that another thread is in would make the loop wait for it.
 */
export class Cell<R extends Resident = Resident> {
  readonly owner: string;
  readonly lane: Lane;
  readonly isolate: ivm.Isolate;
  readonly realms = new Map<string, R>();
  /** Contexts that were replaced while calls were still running in them. */
  readonly leaving = new Set<R>();
  bytes: number = limits.freshBytes;
  dropped = 0;
  /** Characters that calls and streams in it were given. */
  given = 0;
  /** Contexts that are being opened. */
  opening = 0;
  usedAt = performance.now();
  isGone = false;
  /** Entries that have not returned, the running one first. */
  readonly #entries = new Set<{ realm: R }>();
  readonly #onGone: (cell: Cell<R>, culprit: R | undefined, reason: string) => void;
  #first: BootedContext | undefined;
  #watchdog: NodeJS.Timeout | undefined;

  constructor(
    { owner, lane }: { owner: string; lane: Lane },
    onGone: (cell: Cell<R>, culprit: R | undefined, reason: string) => void,
    { isolate, first, watcher }: WarmIsolate = makeIsolate(lane),
  ) {
    this.owner = owner;
    this.lane = lane;
    this.isolate = isolate;
    this.#onGone = onGone;
    this.#first = first;
    watcher.onUnresponsive = () => this.giveUp();
  }

  /** A context for code to run in: the one that was booted beforehand, or another. */
  async context(): Promise<BootedContext> {
    const first = this.#first;
    this.#first = undefined;
    return first ?? (await openContext(this.isolate, { lane: this.lane, onLoop: this.lane === "streams" }));
  }

  /** True while a retired context runs in it, whose call is over or whose source is old: the next call would wait for it. */
  get isHeld(): boolean {
    const [first] = this.#entries;
    return first?.realm.isRetired === true;
  }

  isIdle(): boolean {
    return (
      this.opening === 0 &&
      this.leaving.size === 0 &&
      [...this.realms.values()].every((realm) => realm.isIdle())
    );
  }

  /** Runs one entry into the isolate and watches that it comes back. */
  async enter<T>(realm: R, run: () => Promise<T>): Promise<T> {
    const entry = { realm };
    this.usedAt = performance.now();
    this.#entries.add(entry);
    this.#watchdog ??= setTimeout(() => this.#watch(), limits.sliceMs + limits.graceMs);
    try {
      return await run();
    } catch (error) {
      throw this.explain(error, realm);
    } finally {
      this.#entries.delete(entry);
      stuck.delete(this);
      if (this.#entries.size === 0) {
        clearTimeout(this.#watchdog);
        this.#watchdog = undefined;
      } else {
        // Entries wait for each other; each has its own time.
        this.#watchdog?.refresh();
      }
    }
  }

  /** Tells a failure of the isolate from one of the code; the former ends the cell. */
  explain(error: unknown, realm: R): unknown {
    const message = error instanceof Error ? error.message : "";
    if (message.startsWith("Isolate was disposed during execution due to memory limit")) {
      // On the event loop's own thread there is one entry at a time, this one.
      const [first = { realm }] = this.lane === "streams" ? [] : this.#entries;
      this.end(first.realm, "memory");
      return first.realm === realm ? toMemoryError() : toNeighbourError(first.realm.id, "memory");
    }
    if (this.isGone && /disposed|released/i.test(message)) {
      return new SandboxError("timeout", "The code was stopped together with other code of its owner.");
    }
    return error;
  }

  /** Where the event loop was held up, what came back meanwhile is told first. */
  #watch(): void {
    const [first] = this.#entries;
    setImmediate(() => {
      if (first && this.#entries.has(first)) {
        this.giveUp();
      }
    });
  }

  /** The isolate did not come back in time: nothing waits for it any more. */
  giveUp(): void {
    const [first] = this.#entries;
    if (first) {
      stuck.add(this);
    }
    this.end(first?.realm, "timeout");
  }

  /** Disposes of the isolate; everything that runs in it fails, the culprit with its own reason. */
  end(culprit: R | undefined, reason: "memory" | "timeout"): void {
    if (this.isGone) {
      return;
    }
    this.isGone = true;
    clearTimeout(this.#watchdog);
    this.#onGone(this, culprit, reason);
    for (const realm of [...this.realms.values(), ...this.leaving]) {
      const own = reason === "memory" ? toMemoryError() : toTimeoutError();
      realm.failAll(realm === culprit || !culprit ? own : toNeighbourError(culprit.id, reason));
    }
    this.dispose();
  }

  dispose(): void {
    this.isGone = true;
    this.realms.clear();
    this.leaving.clear();
    if (!this.isolate.isDisposed) {
      this.isolate.dispose();
    }
  }

  /** Looks how much memory the isolate holds. */
  async measure(): Promise<void> {
    if (!this.isGone) {
      try {
        const heap =
          this.lane === "calls"
            ? await this.isolate.getHeapStatistics()
            : this.isolate.getHeapStatisticsSync();
        this.bytes = heap.total_heap_size + heap.externally_allocated_size;
      } catch {
        // It was disposed of meanwhile.
      }
    }
  }
}

export function toMemoryError(): SandboxError {
  return new SandboxError("memory", `The code used more than ${limits.isolateMegabytes} MB of memory.`);
}

export function toTimeoutError(): SandboxError {
  return new SandboxError("timeout", `The code ran longer than ${limits.sliceMs / 1000} s without a pause.`);
}

function toNeighbourError(id: string, reason: "memory" | "timeout"): SandboxError {
  return new SandboxError(
    reason,
    `The code was stopped because "${id}", of the same owner, overran its limits.`,
  );
}
