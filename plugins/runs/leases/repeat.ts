/** Does something over and over, with a pause in between; `run` never rejects. */
export function createLoop(pauseMs: number, run: () => Promise<void>) {
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> | undefined;
  let isStopped = false;
  const go = () => {
    running = run().then(() => {
      timer = isStopped ? undefined : setTimeout(go, pauseMs).unref();
    });
  };
  return {
    start: go,
    /** Waits for what is being done. */
    async stop() {
      isStopped = true;
      clearTimeout(timer);
      await running;
    },
  };
}

/** Runs once for all who ask while it runs already, and not before it is done: each sees what was there when asking. */
export function oneAtATime(run: () => Promise<void>): () => Promise<void> {
  let last = Promise.resolve();
  let next: Promise<void> | undefined;
  return () => {
    next ??= last.then(() => {
      next = undefined;
      return (last = run());
    });
    return next;
  };
}
