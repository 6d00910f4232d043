import type { LiveRun } from "./live-run.ts";
import type { StopReason } from "./run-facts.ts";

/** The runs of this process. */
export interface LiveRuns {
  add(run: LiveRun): void;
  get(id: string): LiveRun | undefined;
  /** The run that writes a message. */
  ofMessage(chatId: string, messageId: string): LiveRun | undefined;
  ofUser(userId: string): LiveRun[];
  /** Stops those of `ids` that are here. */
  stop(ids: readonly string[], reason: StopReason): void;
  /** Lets all end within `graceMs`, then breaks the others off; resolves when none is left. */
  drain(graceMs: number): Promise<void>;
}

/** `ended` is told of each run as it leaves. */
export function createLiveRuns(ended: (run: LiveRun) => void): LiveRuns {
  const runs = new Map<string, LiveRun>();
  const all = () => [...runs.values()];
  return {
    add(run) {
      runs.set(run.start.id, run);
      void run.ended.then(() => {
        runs.delete(run.start.id);
        ended(run);
      });
    },
    get: (id) => runs.get(id),
    ofMessage: (chatId, messageId) =>
      all().find(({ start }) => start.placed.chatId === chatId && start.reply.messageId === messageId),
    ofUser: (userId) => all().filter(({ start }) => start.principal.userId === userId),
    stop: (ids, reason) => ids.forEach((id) => runs.get(id)?.stop(reason)),
    async drain(graceMs) {
      const timer = setTimeout(() => all().forEach((run) => run.stop("interrupted")), graceMs);
      await Promise.all(all().map(({ ended }) => ended));
      clearTimeout(timer);
    },
  };
}
