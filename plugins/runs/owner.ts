import type { Logger } from "#kernel/log.ts";
import { createLeftovers } from "./leftovers.ts";
import { beat, deleteRuns, forgetOwner, insertRuns, type RunRow, silentMs, staleRuns } from "./run-store.ts";
import type { RunDatabase } from "./tables.ts";

export interface OwnerOptions {
  readonly db: RunDatabase;
  /** Names this process. */
  readonly id: string;
  readonly log: Logger;
  /** True when no other process can use the database: whatever is not of this one is of one that died. */
  readonly isAlone: boolean;
  /** Told of runs whose process is gone; they are forgotten when it resolves. */
  orphaned(runs: readonly RunRow[]): Promise<void>;
}

/** The lease of this process on its runs (architecture.md §10). */
export interface Owner {
  /** Takes runs on before anything of them is written. */
  take(runs: readonly RunRow[]): Promise<void>;
  /** Gives back runs that have ended. */
  release(ids: readonly string[]): Promise<void>;
  /** Ends runs that could not begin as if their process had died; as soon as the database answers. Never rejects. */
  abandon(runs: readonly RunRow[]): Promise<void>;
  start(): void;
  stop(): Promise<void>;
}

const beatMs = 1_500;

/**
 * Holds the lease by a heartbeat while there are runs, and looks for runs whose process is gone. A process that could
 * not reach the database itself does not judge others: after an outage everybody was silent.
 */
export function createOwner({ db, id, log, isAlone, orphaned }: OwnerOptions): Owner {
  const held = new Set<string>();
  const leftovers = createLeftovers(db, orphaned);
  let timer: NodeJS.Timeout | undefined;
  let turning: Promise<void> | undefined;
  let hasSwept = false;
  let reachableSince = Date.now();
  let reachedAt = Date.now();

  async function turn(): Promise<void> {
    if (Date.now() - reachedAt > silentMs / 2) {
      reachableSince = Date.now();
    }
    try {
      if (held.size > 0 && !isAlone) {
        await beat(db, id);
      }
      await leftovers.flush();
      // Where nobody else can have run anything, what the last process left is found once.
      if (!isAlone || !hasSwept) {
        await sweep();
        hasSwept = true;
      }
      reachedAt = Date.now();
    } catch (error) {
      reachableSince = Date.now();
      log.warn({ err: error }, "the runs of this process could not be looked after; it is tried again");
    }
  }

  async function sweep(): Promise<void> {
    if (!isAlone && Date.now() - reachableSince < silentMs) {
      return;
    }
    const stale = await staleRuns(db, id, { all: isAlone, limit: 500 });
    if (stale.length > 0) {
      await orphaned(stale);
      await deleteRuns(
        db,
        stale.map((run) => run.id),
      );
    }
  }

  const schedule = () => {
    timer = setTimeout(() => {
      turning = turn().then(schedule);
    }, beatMs);
    timer.unref();
  };

  return {
    async take(runs) {
      await insertRuns(db, id, runs);
      runs.forEach((run) => held.add(run.id));
    },
    async release(ids) {
      ids.forEach((each) => held.delete(each));
      await leftovers.release(ids);
    },
    async abandon(runs) {
      runs.forEach((run) => held.delete(run.id));
      await leftovers.abandon(runs);
    },
    start: () => void (turning = turn().then(schedule)),
    async stop() {
      clearTimeout(timer);
      await turning;
      clearTimeout(timer);
      await leftovers.flush();
      await forgetOwner(db, id);
    },
  };
}
