import type { Logger } from "#kernel/log.ts";
import { createPendingReleases } from "./pending-releases.ts";
import { createLoop, oneAtATime } from "./repeat.ts";
import { beat, forgetOwner, insertRuns, type RunRow, silentMs, takeStale } from "./run-store.ts";
import type { RunDatabase } from "../tables.ts";

export interface LeaseOptions {
  readonly db: RunDatabase;
  /** Names this process. */
  readonly id: string;
  readonly log: Logger;
  /** True when no other process can use the database: every other lease is one of a process that died. */
  readonly isAlone: boolean;
  /** Stops runs of this process. */
  readonly live: { stop(ids: readonly string[], reason: "lost" | "stopped"): void };
  /** Ends a run whose process is gone; it is forgotten when this resolves. */
  orphaned(run: RunRow): Promise<void>;
}

/** The lease of this process on its runs (architecture.md §10). */
export interface Lease {
  /** Leases runs before anything of them is written. */
  acquire(runs: readonly RunRow[]): Promise<void>;
  /** Releases the leases of runs that have ended. */
  release(ids: readonly string[]): Promise<void>;
  /** Ends runs that could not begin as if their process had died; as soon as the database answers. Never rejects. */
  abandon(runs: readonly RunRow[]): Promise<void>;
  /** Heartbeat: renews the leases and stops runs that shall stop, or are another process's by now. Never rejects. */
  look(): Promise<void>;
  start(): void;
  stop(): Promise<void>;
}

const beatMs = 1_500;
/** Runs of dead processes that one step takes over: the other replicas get their share. */
const batchSize = 50;

/**
 * Renews the leases by a heartbeat, and takes over runs whose process is gone. A process whose own heartbeat did not reach
 * the database all the while takes nothing over: after an outage the heartbeats of all processes are missing.
 */
export function createLease({ db, id, log, isAlone, live, orphaned }: LeaseOptions): Lease {
  const held = new Set<string>();
  const pending = createPendingReleases({ db, log, orphaned });
  let hasSwept = false;
  let reachableSince = Date.now();
  let reachedAt = Date.now();
  /** The last heartbeat in the database's time. */
  let beatAt = 0;

  const look = oneAtATime(async () => {
    const known = [...held];
    try {
      const { at, runs } = await beat(db, id);
      beatAt = at;
      const now = Date.now();
      reachableSince = now - reachedAt > silentMs / 2 ? now : reachableSince;
      reachedAt = now;
      // A lease released in the meantime needs no renewal.
      live.stop(
        known.filter((each) => held.has(each) && !runs.has(each)),
        "lost",
      );
      live.stop(
        known.filter((each) => runs.get(each)?.shallStop),
        "stopped",
      );
    } catch (error) {
      reachableSince = Date.now();
      log.warn({ err: error }, "the leases of this process could not be renewed; it is tried again");
    }
  });

  async function turn(): Promise<void> {
    try {
      // Without other processes one sweep finds what the last process left.
      if (!isAlone || !hasSwept) {
        await sweep();
        hasSwept = true;
      }
      await pending.flush();
    } catch (error) {
      log.warn({ err: error }, "the runs of this process could not be looked after; it is tried again");
    }
  }

  async function sweep(): Promise<void> {
    const now = Date.now();
    let isMore = isAlone || (now - reachableSince >= silentMs && now - reachedAt <= silentMs / 2);
    while (isMore) {
      const stale = await takeStale(db, id, { all: isAlone, limit: batchSize, beatAt });
      await pending.abandon(stale);
      isMore = stale.length === batchSize;
    }
  }

  // Two loops: a heartbeat must not wait for other work.
  const heartbeat = createLoop(beatMs, async () => (isAlone ? undefined : await look()));
  const sweeper = createLoop(beatMs, turn);

  return {
    async acquire(runs) {
      await insertRuns(db, id, runs);
      runs.forEach((run) => held.add(run.id));
    },
    async release(ids) {
      ids.forEach((each) => held.delete(each));
      await pending.release(ids);
    },
    async abandon(runs) {
      runs.forEach((run) => held.delete(run.id));
      await pending.abandon(runs);
    },
    look,
    start() {
      heartbeat.start();
      sweeper.start();
    },
    async stop() {
      await Promise.all([heartbeat.stop(), sweeper.stop()]);
      await pending.flush();
      await forgetOwner(db, id);
    },
  };
}
