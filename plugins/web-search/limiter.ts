/** Runs tasks, at most so many at the same time. */
export type Limiter = <T>(task: () => Promise<T>, signal: AbortSignal) => Promise<T>;

/**
 * A limiter whose bound is read at each start; 0 is none. A task that still waits when its signal is aborted rejects
 * with the signal's reason and never runs.
 */
export function createLimiter(limit: () => number): Limiter {
  const waiting: (() => void)[] = [];
  let running = 0;
  const isFull = () => limit() > 0 && running >= limit();
  const release = () => {
    running -= 1;
    while (waiting.length > 0 && !isFull()) {
      running += 1;
      waiting.shift()?.();
    }
  };
  const enter = async (signal: AbortSignal) => {
    signal.throwIfAborted();
    if (!isFull()) {
      running += 1;
      return;
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const leave = () => {
      waiting.splice(waiting.indexOf(resolve), 1);
      reject(signal.reason);
    };
    waiting.push(resolve);
    signal.addEventListener("abort", leave, { once: true });
    await promise.finally(() => signal.removeEventListener("abort", leave));
  };
  return async (task, signal) => {
    await enter(signal);
    try {
      return await task();
    } finally {
      release();
    }
  };
}
