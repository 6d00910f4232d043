/** What a client asked for, done one after another. */
export interface Inbox {
  /** Adds work; a rejection is the work's own business and must not happen. */
  add(work: () => Promise<void>): void;
}

/** A client that sends faster than its work gets done is read no further until most of it is. */
const most = 64;
const enough = 16;

export function createInbox(source: { pause(): void; resume(): void }): Inbox {
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
      last = last.then(work).finally(() => {
        waiting -= 1;
        if (isPaused && waiting <= enough) {
          isPaused = false;
          source.resume();
        }
      });
    },
  };
}
