import type ivm from "isolated-vm";
import { SandboxError } from "#kernel/sandbox.ts";
import { threadMs } from "../host/thread-time.ts";
import { limits } from "../limits.ts";
import type { Sized } from "./batch-scheduler.ts";
import { applyCopied, type Copied } from "./transfer.ts";

/** The hooks of one run, told of what becomes of its batches. */
export interface BatchListener {
  /** Hooks that failed by themselves, `place:report` each, apart by tabs. */
  onHookErrors(failures: string): void;
  /** The hook at `place` took too long, or broke the isolate. */
  onTimeout(place: number, error: unknown, heldMs: number): void;
  failAll(error: SandboxError): void;
}

/** A message for the router; `batch` waits for its answer. */
export interface Queued extends Sized {
  readonly message: Copied;
  readonly batch: Batch | undefined;
}

export interface Batch {
  readonly run: number;
  readonly listener: BatchListener;
  readonly chunks: readonly string[];
  done(chunks: readonly string[]): void;
}

export type Router = Record<"cross" | "register" | "resume" | "retry" | "where", ivm.Reference>;

const within = {
  get timeout() {
    return limits.streamMs;
  },
};

/** How often in one crossing other work of the machine may have taken the time. */
const mostRetries = 5;

/** Crosses once. After an overrun, its hook is left out and the rest goes on with the last good texts. */
export function cross(router: Router, items: readonly Queued[]): void {
  const batches = items.map(({ batch }) => batch).filter((batch) => batch !== undefined);
  let entry = router.cross;
  let list: Copied | undefined = items.flatMap(({ message }) => message);
  let retries = 0;
  let stoppedAt = "";
  let progress = 0;
  // Each round gets further than the one before, or is the last.
  for (;;) {
    const before = threadMs();
    try {
      deliver(batches, applyCopied(entry, list, limits.streamMs));
      return;
    } catch (error) {
      list = undefined;
      // A busy machine took the time, not the hook.
      const heldMs = threadMs() - before;
      if (retries < mostRetries && isTimeout(error) && heldMs < limits.streamMs / 2) {
        retries++;
        entry = router.retry;
        continue;
      }
      const at = isTimeout(error) ? findPlace(router) : "";
      const [run, place, , steps] = at.split(":");
      if (Number(steps) > progress && heldMs <= limits.heldMs) {
        // Hooks before this one took of its time: it gets a whole one.
        progress = Number(steps);
        entry = router.retry;
        continue;
      }
      const found = batches.find((batch) => batch.run === Number(run));
      if (!found || at === stoppedAt) {
        giveUp(batches, error, heldMs);
        return;
      }
      stoppedAt = at;
      if (place === "") {
        found.listener.failAll(toUnreadableError());
      } else {
        found.listener.onTimeout(Number(place), error, heldMs);
      }
      entry = router.resume;
    }
  }
}

/** The answer has for each batch: what failed on it, the number of its chunks, and each of them. */
function deliver(batches: readonly Batch[], answer: Copied): void {
  let at = 0;
  for (const { listener, done } of batches) {
    const failures = String(answer[at]);
    const from = at + 2;
    at = from + Number(answer[at + 1]);
    if (failures !== "") {
      listener.onHookErrors(failures);
    }
    done(answer.slice(from, at).map(String));
  }
}

/** The isolate itself failed, or nothing gets on in it: all runs in it go on without their hooks. */
function giveUp(batches: readonly Batch[], error: unknown, heldMs: number): void {
  for (const { listener, chunks, done } of batches) {
    if (!isTimeout(error)) {
      listener.onTimeout(0, error, heldMs);
    }
    listener.failAll(toUnreadableError());
    done(chunks);
  }
}

function toUnreadableError(): SandboxError {
  return new SandboxError("timeout", "What the stream hooks were given took too long to read.");
}

/**
 * Where the crossing was broken off, `run:hook:place in the list:steps`. Without a hook none of them ran; without a run
 * the router does not tell.
 */
function findPlace(router: Router): string {
  try {
    return String(router.where.applySync(undefined, [], within));
  } catch {
    return "";
  }
}

function isTimeout(error: unknown): boolean {
  return error instanceof Error && error.message === "Script execution timed out.";
}
