import type { Logger } from "#kernel/log.ts";
import { isUnavailable } from "#storage/errors.ts";
import { deleteRuns, type RunRow } from "./run-store.ts";
import type { RunDatabase } from "../tables.ts";

export interface LeftoverOptions {
  readonly db: RunDatabase;
  readonly log: Logger;
  /** Ends a run whose process is gone. */
  orphaned(run: RunRow): Promise<void>;
}

/** Runs that this process is done with, or that nobody works on any more, until the database knows it. */
export interface Leftovers {
  /** Forgets runs that have ended. Never rejects: what fails now is done with the next flush. */
  release(ids: readonly string[]): Promise<void>;
  /** Ends runs as if their process had died. Never rejects either. */
  abandon(runs: readonly RunRow[]): Promise<void>;
  /** Rejects when the database is away. */
  flush(): Promise<void>;
}

export function createLeftovers({ db, log, orphaned }: LeftoverOptions): Leftovers {
  const released = new Set<string>();
  const abandoned = new Map<string, RunRow>();
  const told = new Set<string>();

  /** What ended while the database was away is given back as soon as it answers. */
  async function flushReleased(): Promise<void> {
    const ids = [...released];
    if (ids.length > 0) {
      await deleteRuns(db, ids);
      ids.forEach((each) => released.delete(each));
    }
  }

  /** One that cannot be ended keeps none of the others waiting. */
  async function flushAbandoned(): Promise<void> {
    for (const run of abandoned.values()) {
      try {
        await orphaned(run);
        await deleteRuns(db, [run.id]);
        abandoned.delete(run.id);
        told.delete(run.id);
      } catch (error) {
        if (isUnavailable(error)) {
          // Perhaps it is this one that takes too long: next time the others come first.
          abandoned.delete(run.id);
          abandoned.set(run.id, run);
          throw error;
        }
        if (!told.has(run.id)) {
          told.add(run.id);
          log.error({ err: error, run: run.id }, "a run that is gone could not be ended; it is tried again");
        }
      }
    }
  }

  return {
    async release(ids) {
      // What is to be ended yet is forgotten when it has.
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
