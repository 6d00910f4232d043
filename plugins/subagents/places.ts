/** Places for so many at once; more wait in their order. */
export interface Places {
  /** Resolves to what gives the place back; rejects when the signal is aborted before there is one. */
  take(signal: AbortSignal, onWait?: () => void): Promise<() => void>;
}

/** Places of this process; -1 is no limit. */
export function createPlaces(limit: number): Places {
  let taken = 0;
  const waiting: (() => void)[] = [];
  const giveBack = () => {
    const next = waiting.shift();
    if (next) {
      next();
    } else {
      taken -= 1;
    }
  };
  const once = () => {
    let isGiven = false;
    return () => {
      if (!isGiven) {
        isGiven = true;
        giveBack();
      }
    };
  };
  return {
    async take(signal, onWait) {
      signal.throwIfAborted();
      if (limit < 0 || taken < limit) {
        taken += 1;
        return once();
      }
      onWait?.();
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const stop = () => {
        const at = waiting.indexOf(resolve);
        if (at >= 0) {
          waiting.splice(at, 1);
          reject(signal.reason);
        }
      };
      waiting.push(resolve);
      signal.addEventListener("abort", stop, { once: true });
      await promise.finally(() => signal.removeEventListener("abort", stop));
      return once();
    },
  };
}
