/** The queue of a client's requests, handled one after another. */
export interface Inbox {
  /** Queues work; failed work does not stop the queue. */
  add(work: () => Promise<void>): void;
}

/** Reading pauses above the first count of queued entries and resumes at the second. */
const most = 64;
const enough = 16;

export function createInbox(source: {
  pause(): void;
  resume(): void;
  /** True when queued work is to be dropped. */
  isOver(): boolean;
  /** Resolves when the client has read enough of its answers for the next one. */
  whenWritable(): Promise<void>;
  /** Called with the error of work that failed. */
  failed(error: unknown): void;
}): Inbox {
  let last: Promise<void> = Promise.resolve();
  let waiting = 0;
  let isPaused = false;
  return {
    add(work) {
      waiting += 1;
      if (waiting > most && !isPaused) {
        isPaused = true;
        source.pause();
      }
      last = last
        .then(() => (source.isOver() ? undefined : work()))
        .catch((error: unknown) => source.failed(error))
        .then(() => source.whenWritable())
        .finally(() => {
          waiting -= 1;
          if (isPaused && waiting <= enough) {
            isPaused = false;
            source.resume();
          }
        });
    },
  };
}
