import ivm from "isolated-vm";
import { type BootedContext, type Lane, openContext } from "./bridge-functions.ts";
import { limits } from "../limits.ts";

/** An isolate without an owner yet. */
export interface WarmIsolate {
  readonly isolate: ivm.Isolate;
  /** Booted for the first code that will run in it; undefined in an isolate that is made when it is wanted. */
  readonly first: BootedContext | undefined;
  /** Its function is called when a thread in the isolate cannot be stopped. */
  readonly watcher: { onUnresponsive(): void };
}

/** Makes an isolate without any context. */
export function makeIsolate(lane: Lane): WarmIsolate {
  const watcher = { onUnresponsive: () => {} };
  const isolate = new ivm.Isolate({
    memoryLimit: limits.isolateMegabytes,
    // A thread that cannot be stopped is put to sleep. The event loop's own thread must not be.
    ...(lane === "calls" && { onCatastrophicError: () => watcher.onUnresponsive() }),
  });
  return { isolate, first: undefined, watcher };
}

/**
 * One isolate of each lane that waits for its owner, once there is an owner at all: making one and booting a context in
 * it is most of what a first call would wait for, and with hooks the event loop with it.
 */
export interface WarmIsolates {
  take(lane: Lane): WarmIsolate | undefined;
  /** Sees to it that there is one in a moment, when what goes on now is done. */
  prepare(lane: Lane): void;
  count(): number;
  close(): void;
}

export function createWarmIsolates(): WarmIsolates {
  const ready = new Map<Lane, WarmIsolate>();
  const coming = new Set<Lane>();
  let isClosed = false;

  const make = async (lane: Lane): Promise<void> => {
    if (isClosed) {
      return;
    }
    let isolate: ivm.Isolate | undefined;
    try {
      const made = makeIsolate(lane);
      isolate = made.isolate;
      // On a thread in both lanes: no code runs in the isolate yet for which the event loop would wait.
      const first = await openContext(isolate, { lane, onLoop: false });
      if (!isClosed) {
        ready.set(lane, { ...made, first });
        return;
      }
    } catch {
      // The next owner makes its own, and is told what is wrong.
    }
    if (isolate && !isolate.isDisposed) {
      isolate.dispose();
    }
  };

  return {
    take(lane) {
      const found = ready.get(lane);
      ready.delete(lane);
      return found;
    },
    prepare(lane) {
      if (!isClosed && !ready.has(lane) && !coming.has(lane)) {
        coming.add(lane);
        const begin = () => void make(lane).finally(() => coming.delete(lane));
        setTimeout(begin, limits.warmAfterMs).unref();
      }
    },
    count: () => ready.size,
    close() {
      isClosed = true;
      ready.forEach(({ isolate }) => isolate.dispose());
      ready.clear();
    },
  };
}
