import type { Principal } from "#kernel/access/principal.ts";
import { AppError } from "#kernel/errors.ts";
import type { Notices } from "#kernel/services.ts";
import type { LiveRuns } from "./live-runs.ts";
import type { RunParts } from "../parts.ts";
import type { Lease } from "../leases/lease.ts";
import { allRunIds, askToStop, findRun, type RunRow, runsOfChat } from "../leases/run-store.ts";
import { isTemporary } from "#plugins/completions/service.ts";
import type { RunDatabase } from "../tables.ts";

export interface TaskOptions {
  readonly db: RunDatabase;
  readonly chats: RunParts["chats"];
  readonly live: LiveRuns;
  readonly notices: Notices;
  readonly lease: Pick<Lease, "look">;
}

export type Tasks = ReturnType<typeof createTasks>;

const channel = "runs:stop";

/** Runs as tasks that can be listed and stopped, whichever replica works on them. */
export function createTasks({ db, chats, live, notices, lease }: TaskOptions) {
  const ofChat = async (caller: Principal, chatId: string): Promise<RunRow[]> => {
    if (!isTemporary(chatId)) {
      await chats.require(caller, chatId);
      return await runsOfChat(db, chatId);
    }
    const runs = await runsOfChat(db, chatId);
    // Two people may have come upon one id: each has a chat of their own.
    const own = runs.filter((run) => run.user_id === caller.userId);
    // Contract D.16: a foreign chat is an unknown one.
    if (own.length === 0 && runs.length > 0) {
      throw new AppError("not_found", "Chat not found");
    }
    return own;
  };
  const stop = async (ids: readonly string[]) => {
    live.stop(ids, "stopped");
    // A run that is only about to begin reads it then, here and elsewhere.
    await askToStop(db, { ids });
    live.stop(ids, "stopped");
    const elsewhere = ids.filter((id) => live.get(id) === undefined);
    if (elsewhere.length > 0) {
      await notices.notify(channel, { ids: elsewhere });
    }
  };
  return {
    /** Listens to the other replicas. */
    async start(): Promise<void> {
      await notices.listen(channel, onNotice, () => void lease.look());
    },
    all: () => allRunIds(db),
    isUnderWay: async (chatId: string, messageId: string): Promise<boolean> =>
      (await runsOfChat(db, chatId)).some((run) => run.message_id === messageId),
    async list(caller: Principal, chatId: string): Promise<string[]> {
      return (await ofChat(caller, chatId)).map(({ id }) => id);
    },
    /** Stops everything that is written into a chat; resolves to what was stopped. */
    async stopChat(caller: Principal, chatId: string): Promise<string[]> {
      const ids = (await ofChat(caller, chatId)).map(({ id }) => id);
      await stop(ids);
      return ids;
    },
    /** Throws `not_found` for a run that has ended. */
    async stopOne(id: string): Promise<void> {
      if ((await findRun(db, id)) === undefined) {
        throw new AppError("not_found", "Task not found");
      }
      await stop([id]);
    },
    /** Ends what an account has under way that may not use the platform any more. */
    async stopUser(userId: string): Promise<void> {
      live.ofUser(userId).forEach((run) => run.stop("revoked"));
      await askToStop(db, { userId });
      live.ofUser(userId).forEach((run) => run.stop("revoked"));
      await notices.notify(channel, { userId });
    },
  };

  function onNotice(payload: unknown): void {
    const { ids, userId } = (payload ?? {}) as { ids?: unknown; userId?: unknown };
    if (Array.isArray(ids)) {
      live.stop(ids.map(String), "stopped");
    }
    if (typeof userId === "string") {
      live.ofUser(userId).forEach((run) => run.stop("revoked"));
    }
  }
}
