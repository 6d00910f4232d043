import type { Logger } from "#kernel/log.ts";
import { isUnavailable } from "#storage/errors.ts";
import { deleteRuns, type RunRow } from "./run-store.ts";
import type { RunDatabase } from "../tables.ts";

export interface PendingReleasesOptions {
  readonly db: RunDatabase;
  readonly log: Logger;
  /** Ends a run whose process is gone. */
  orphaned(run: RunRow): Promise<void>;
}

/** Runs that have ended here or were abandoned, until the database knows it. */
export interface PendingReleases {
  /** Deletes the rows of runs that have ended. Never rejects: the next flush repeats what fails now. */
  release(ids: readonly string[]): Promise<void>;
  /** Ends runs as if their process had died. Never rejects either. */
  abandon(runs: readonly RunRow[]): Promise<void>;
  /** Rejects when the database is away. */
  flush(): Promise<void>;
}

export function createPendingReleases({ db, log, orphaned }: PendingReleasesOptions): PendingReleases {
  const released = new Set<string>();
  const abandoned = new Map<string, RunRow>();
  const logged = new Set<string>();

  /** Releases runs that ended while the database was away. */
  async function flushReleased(): Promise<void> {
    const ids = [...released];
    if (ids.length > 0) {
      await deleteRuns(db, ids);
      ids.forEach((each) => released.delete(each));
    }
  }

  /** Ends abandoned runs; one that cannot be ended does not hold up the others. */
  async function flushAbandoned(): Promise<void> {
    for (const run of abandoned.values()) {
      try {
        await orphaned(run);
        await deleteRuns(db, [run.id]);
        abandoned.delete(run.id);
        logged.delete(run.id);
      } catch (error) {
        if (isUnavailable(error)) {
          // This one may be what takes too long: the next flush begins with the others.
          abandoned.delete(run.id);
          abandoned.set(run.id, run);
          throw error;
        }
        if (!logged.has(run.id)) {
          logged.add(run.id);
          log.error({ err: error, run: run.id }, "a run that is gone could not be ended; it is tried again");
        }
      }
    }
  }

  return {
    async release(ids) {
      // An abandoned run is deleted once it was ended.
      ids.filter((each) => !abandoned.has(each)).forEach((each) => released.add(each));
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
