import { setTimeout as pause } from "node:timers/promises";
import type { Logger } from "#kernel/log.ts";
import { isRefused } from "#storage/errors.ts";
import type { Checkpoint, Replies, Reply } from "#plugins/chats/service.ts";

/** A reply that grows. */
export interface Growing extends Reply {
  /** What is new since the last checkpoint, or undefined when nothing is. */
  take(): Checkpoint | undefined;
  /** The last one that was taken could not be stored: the next one must hold everything. */
  failed(): void;
  /** The message belongs to another writer now, or is gone. */
  lost(): void;
}

/** Stores growing replies, all of this process in one statement. */
export interface Checkpoints {
  add(reply: Growing): void;
  /** Stores this reply's state at once instead of with the next turn. */
  writeNow(): void;
  /**
   * Stores the last state and gives the message back, as long as it takes: while the database is away it is tried
   * again. False when the message was not the run's any more, undefined when the process must end before that is known.
   * Rejects when the database answers that it does not take this state.
   */
  finish(reply: Growing, last: () => Checkpoint): Promise<boolean | undefined>;
  remove(reply: Growing): void;
}

export interface CheckpointOptions {
  readonly replies: Pick<Replies, "checkpoint" | "finish" | "held">;
  readonly log: Logger;
  /** Aborted when the process must end. */
  readonly signal: AbortSignal;
}

const everyMs = 1_000;
export function createCheckpoints({ replies, log, signal }: CheckpointOptions): Checkpoints {
  const growing = new Map<string, Growing>();
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> | undefined;
  let wantsMore = false;
  let failures = 0;

  async function write(looks: boolean): Promise<void> {
    const taken = [...growing.values()].flatMap((reply) => {
      const checkpoint = reply.take();
      return checkpoint ? [{ reply, checkpoint }] : [];
    });
    const stored = new Set(taken.map(({ reply }) => reply));
    const quiet = looks ? [...growing.values()].filter((reply) => !stored.has(reply)) : [];
    try {
      if (taken.length > 0) {
        const written = await replies.checkpoint(taken.map(({ checkpoint }) => checkpoint));
        await splitUnstored(
          [...stored].filter(({ runId }) => !written.has(runId)),
          replies,
        );
      }
      if (quiet.length > 0) {
        // Nothing new to store; but a run whose chat is gone must not wait for its upstream to say something.
        endLost(quiet, await replies.held(quiet));
      }
      failures = 0;
    } catch (error) {
      taken.forEach(({ reply }) => reply.failed());
      failures += 1;
      if (failures === 1) {
        log.warn({ err: error }, "replies could not be stored; they are kept and stored as soon as it works");
      }
    }
  }

  /** One write at a time: what comes meanwhile goes with the next. */
  function turn({ looks }: { looks: boolean }): Promise<void> {
    if (writing) {
      wantsMore = true;
      return writing;
    }
    writing = write(looks).then(() => {
      writing = undefined;
      if (wantsMore && failures === 0) {
        wantsMore = false;
        void turn({ looks: false });
      }
    });
    return writing;
  }

  return {
    add(reply) {
      growing.set(reply.runId, reply);
      timer ??= setInterval(() => void turn({ looks: true }), everyMs);
      timer.unref();
    },
    writeNow: () => void turn({ looks: false }),
    remove(reply) {
      growing.delete(reply.runId);
      if (growing.size === 0) {
        clearInterval(timer);
        timer = undefined;
      }
    },
    async finish(reply, last) {
      this.remove(reply);
      // A checkpoint that is on its way must not land behind the last state.
      await writing;
      return await finish(last(), { replies, log, signal });
    },
  };
}

async function finish(
  checkpoint: Checkpoint,
  { replies, log, signal }: CheckpointOptions,
): Promise<boolean | undefined> {
  for (let wait = 250; ; wait = Math.min(wait * 2, 2_000)) {
    try {
      return await replies.finish(checkpoint);
    } catch (error) {
      if (isRefused(error)) {
        throw error;
      }
      log.warn({ err: error }, "a finished reply could not be stored; it is tried again");
    }
    await pause(wait, undefined, { signal }).catch(() => {});
    if (signal.aborted) {
      return undefined;
    }
  }
}

/** Marks replies whose checkpoint did not follow the stored one for a whole one, or as lost to another run. */
async function splitUnstored(left: readonly Growing[], replies: Pick<Replies, "held">): Promise<void> {
  if (left.length > 0) {
    const own = await replies.held(left);
    endLost(left, own);
    left.filter(({ runId }) => own.has(runId)).forEach((reply) => reply.failed());
  }
}

function endLost(growing: readonly Growing[], own: ReadonlySet<string>): void {
  growing.filter(({ runId }) => !own.has(runId)).forEach((reply) => reply.lost());
}
