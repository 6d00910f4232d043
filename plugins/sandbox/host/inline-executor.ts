import { SandboxError, type Script } from "#kernel/sandbox.ts";
import { limits } from "../limits.ts";
import { type InlineCall, InlineEntry } from "./inline-entry.ts";
import { createInlinePolicy, type InlinePolicy } from "./inline-policy.ts";
import type { Overruns } from "./overruns.ts";
import type { Pool } from "./pool.ts";
import type { Realm } from "./realm.ts";
import { keyOf } from "./source.ts";
import { threadMs } from "./thread-time.ts";

// P7 (sandboxed inlet and outlet): a call on the event loop's own thread costs a tenth of one on another thread.

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
    turns.run(() => runInline(new InlineEntry(realm, call), { policy, overruns }));

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
          // A thread has the time to find out what is wrong with it.
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
  entry: InlineEntry,
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
    // Code that was broken off, or waits for something that never comes, must not trouble the next call.
    realm.retire();
  }
  if (!isFinished) {
    entry.fallBack();
  }
}
