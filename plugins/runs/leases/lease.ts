import type { Logger } from "#kernel/log.ts";
import { createLeftovers } from "./pending-releases.ts";
import { createLoop, oneAtATime } from "./repeat.ts";
import { beat, forgetOwner, insertRuns, type RunRow, silentMs, takeStale } from "./run-store.ts";
import type { RunDatabase } from "../tables.ts";

export interface OwnerOptions {
  readonly db: RunDatabase;
  /** Names this process. */
  readonly id: string;
  readonly log: Logger;
  /** True when no other process can use the database: whatever is not of this one is of one that died. */
  readonly isAlone: boolean;
  /** Stops runs of this process. */
  readonly live: { stop(ids: readonly string[], reason: "lost" | "stopped"): void };
  /** Ends a run whose process is gone; it is forgotten when this resolves. */
  orphaned(run: RunRow): Promise<void>;
}

/** The lease of this process on its runs (architecture.md §10). */
export interface Owner {
  /** Takes runs on before anything of them is written. */
  take(runs: readonly RunRow[]): Promise<void>;
  /** Gives back runs that have ended. */
  release(ids: readonly string[]): Promise<void>;
  /** Ends runs that could not begin as if their process had died; as soon as the database answers. Never rejects. */
  abandon(runs: readonly RunRow[]): Promise<void>;
  /** Stops runs that shall stop, or are another's by now, as every heartbeat does. Never rejects. */
  look(): Promise<void>;
  start(): void;
  stop(): Promise<void>;
}

const beatMs = 1_500;
/** Runs of dead processes that are taken over at once: the other replicas get their share. */
const batch = 50;

/**
 * Holds the lease by a heartbeat, and looks for runs whose process is gone. A process whose own heartbeat did not reach
 * the database all the while does not judge others: after an outage everybody was silent.
 */
export function createOwner({ db, id, log, isAlone, live, orphaned }: OwnerOptions): Owner {
  const held = new Set<string>();
  const leftovers = createLeftovers({ db, log, orphaned });
  let hasSwept = false;
  let reachableSince = Date.now();
  let reachedAt = Date.now();

  const look = oneAtATime(async () => {
    const known = [...held];
    try {
      const runs = await beat(db, id);
      const now = Date.now();
      reachableSince = now - reachedAt > silentMs / 2 ? now : reachableSince;
      reachedAt = now;
      // What was given back meanwhile is nobody's loss.
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
      log.warn({ err: error }, "this process could not say that it works on its runs; it is tried again");
    }
  });

  async function turn(): Promise<void> {
    try {
      // Where nobody else can have run anything, what the last process left is found once.
      if (!isAlone || !hasSwept) {
        await sweep();
        hasSwept = true;
      }
      await leftovers.flush();
    } catch (error) {
      log.warn({ err: error }, "the runs of this process could not be looked after; it is tried again");
    }
  }

  async function sweep(): Promise<void> {
    const now = Date.now();
    let isMore = isAlone || (now - reachableSince >= silentMs && now - reachedAt <= silentMs / 2);
    while (isMore) {
      const stale = await takeStale(db, id, { all: isAlone, limit: batch });
      await leftovers.abandon(stale);
      isMore = stale.length === batch;
    }
  }

  // Apart from each other: the pulse must not wait for other work.
  const pulse = createLoop(beatMs, async () => (isAlone ? undefined : await look()));
  const turns = createLoop(beatMs, turn);

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
    look,
    start() {
      pulse.start();
      turns.start();
    },
    async stop() {
      await Promise.all([pulse.stop(), turns.stop()]);
      await leftovers.flush();
      await forgetOwner(db, id);
    },
  };
}
