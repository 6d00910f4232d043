/** What a client asked for, done one after another. */
export interface Inbox {
  /** Adds work; work that fails does not keep what follows from being done. */
  add(work: () => Promise<void>): void;
}

/** A client that sends faster than its work gets done is read no further until most of it is. */
const most = 64;
const enough = 16;

export function createInbox(source: {
  pause(): void;
  resume(): void;
  /** True when nothing is to be done any more. */
  isOver(): boolean;
  /** Resolves when what was done has been taken; nothing else is done before. */
  eased(): Promise<void>;
  /** Told of work that failed although nothing should. */
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
        .then(() => source.eased())
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
