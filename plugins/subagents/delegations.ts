import { AppError } from "#kernel/errors.ts";
import type { CallProgress } from "#kernel/tools/tool.ts";
import { show, type SubagentParts } from "./parts.ts";
import type { Places } from "./places.ts";
import type { Rows } from "./rows.ts";
import { type Outcome, runTask, type Task } from "./sub-chat.ts";

/** Replies that go on by themselves end with the runs of the server. */
const neverStopped = new AbortController().signal;

export type Delegations = ReturnType<typeof createDelegations>;

/** Gives tasks to sub-agents, and keeps the record of what became of them. */
export function createDelegations(
  parts: SubagentParts,
  { rows, places }: { rows: Rows; places: () => Places },
) {
  const running = new Map<string, Promise<unknown>>();

  function keep<T>(id: string, work: Promise<T>): Promise<T> {
    running.set(
      id,
      work.catch(() => undefined).finally(() => running.delete(id)),
    );
    return work;
  }

  async function begin(task: Task, callId: string | undefined): Promise<void> {
    const { maxAsync } = parts.settings();
    const row = await rows.begin(task, callId, maxAsync);
    if (row === undefined) {
      throw new AppError(
        "rate_limited",
        `${maxAsync} sub-agents work in the background already, and no more may. Wait for one of them, or do this without.`,
      );
    }
    show(row, parts);
  }

  async function work(task: Task, signal: AbortSignal): Promise<Outcome> {
    const outcome = await runTask(task, signal, parts).catch((error: unknown): Outcome => {
      if (!(error instanceof AppError)) {
        parts.log.warn({ err: error, subagent: task.id }, "a sub-agent failed");
      }
      return signal.aborted
        ? { state: "stopped", output: "", error: null }
        : {
            state: "failed",
            output: "",
            error: error instanceof AppError ? error.message : "The sub-agent could not be started.",
          };
    });
    const row = await rows.end(task.id, outcome);
    if (row) {
      show(row, parts);
    }
    return outcome;
  }

  return {
    ids: (): string[] => [...running.keys()],

    /** Waits for a free place, and then for the end. */
    async wait(
      task: Task,
      {
        callId,
        signal,
        onProgress,
      }: {
        readonly callId: string | undefined;
        readonly signal: AbortSignal;
        onProgress(progress: CallProgress): void;
      },
    ): Promise<Outcome> {
      const giveBack = await places().take(signal, () =>
        onProgress({ message: "Waits until another sub-agent is done" }),
      );
      try {
        await begin(task, callId);
        return await keep(task.id, work(task, signal));
      } finally {
        giveBack();
      }
    },

    /** Resolves once the sub-agent is at work; it goes on by itself. */
    async dispatch(task: Task, callId: string | undefined): Promise<void> {
      await begin(task, callId);
      void keep(task.id, work(task, neverStopped)).catch((error: unknown) =>
        parts.log.error({ err: error, subagent: task.id }, "the end of a sub-agent could not be recorded"),
      );
    },

    /** Waits for those whose replies were ended with the server. */
    async settle(): Promise<void> {
      await Promise.race([
        Promise.all(running.values()),
        new Promise((resolve) => setTimeout(resolve, 2_000).unref()),
      ]);
    },
  };
}
