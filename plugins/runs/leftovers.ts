import { deleteRuns, type RunRow } from "./run-store.ts";
import type { RunDatabase } from "./tables.ts";

/** Runs that this process is done with, until the database knows it. */
export interface Leftovers {
  /** Forgets runs that have ended. Never rejects: what fails now is done with the next flush. */
  release(ids: readonly string[]): Promise<void>;
  /** Ends runs that could not begin as if their process had died. Never rejects either. */
  abandon(runs: readonly RunRow[]): Promise<void>;
  flush(): Promise<void>;
}

export function createLeftovers(
  db: RunDatabase,
  orphaned: (runs: readonly RunRow[]) => Promise<void>,
): Leftovers {
  const released = new Set<string>();
  const abandoned = new Map<string, RunRow>();

  /** What ended while the database was away is given back as soon as it answers. */
  async function flushReleased(): Promise<void> {
    const ids = [...released];
    if (ids.length > 0) {
      await deleteRuns(db, ids);
      ids.forEach((each) => released.delete(each));
    }
  }

  async function flushAbandoned(): Promise<void> {
    const runs = [...abandoned.values()];
    if (runs.length > 0) {
      await orphaned(runs);
      const ids = runs.map(({ id }) => id);
      await deleteRuns(db, ids);
      ids.forEach((each) => abandoned.delete(each));
    }
  }

  return {
    async release(ids) {
      ids.forEach((each) => released.add(each));
      await flushReleased().catch(() => {});
    },
    async abandon(runs) {
      runs.forEach((run) => abandoned.set(run.id, run));
      await flushAbandoned().catch(() => {});
    },
    async flush() {
      await flushReleased();
      await flushAbandoned();
    },
  };
}
