import { randomUUID } from "node:crypto";
import { AppError } from "#kernel/errors.ts";
import { isUniqueViolation } from "#storage/errors.ts";
import { seconds } from "#storage/clock.ts";
import type { Chats } from "#plugins/chats/service.ts";
import type { FileChange } from "../snapshots/snapshots.ts";
import type { GatewayDatabase, GatewayRunTable, RunStatus } from "../tables.ts";

export type GatewayRun = Readonly<GatewayRunTable>;

/** The reply that a run writes. */
export interface RunPlace {
  readonly workspaceId: string;
  readonly chatId: string;
  readonly messageId: string;
  readonly modelId: string;
}

export interface RunResult {
  readonly status: Exclude<RunStatus, "running">;
  readonly error: string | undefined;
  readonly changes: readonly FileChange[] | undefined;
  readonly changesProblem: string | undefined;
}

/** The runs of workspaces: one at a time in each. */
export interface RunStore {
  /** Throws `conflict` while another run is at work in the workspace. An interrupted reply goes on as the same run. */
  begin(place: RunPlace): Promise<GatewayRun>;
  /** Throws like `begin`; nothing is written but the end of a run whose process died. */
  requireFree(workspaceId: string, messageId?: string): Promise<void>;
  /** Frees the workspace of a run that did not get so far as to be ended. */
  release(id: string, error: string): Promise<void>;
  end(id: string, result: RunResult): Promise<void>;
  list(workspaceId: string, limit: number): Promise<GatewayRun[]>;
  find(workspaceId: string, id: string): Promise<GatewayRun | undefined>;
  markUndone(id: string): Promise<void>;
}

export function createRunStore(db: GatewayDatabase, chats: Pick<Chats, "message">): RunStore {
  const requireFree = createFreeCheck(db, chats);
  return {
    requireFree,
    async release(id, error) {
      await db
        .updateTable("gateway_run")
        .set({ status: "failed", error, ended_at: seconds() })
        .where("id", "=", id)
        .where("status", "=", "running")
        .execute();
    },
    async begin({ workspaceId, chatId, messageId, modelId }) {
      await requireFree(workspaceId, messageId);
      const fresh = { status: "running" as const, error: null, ended_at: null };
      const row = {
        id: randomUUID(),
        workspace_id: workspaceId,
        chat_id: chatId,
        message_id: messageId,
        model_id: modelId,
        started_at: seconds(),
        changes: null,
        changes_problem: null,
        undone_at: null,
        ...fresh,
      };
      try {
        return await db
          .insertInto("gateway_run")
          .values(row)
          .onConflict((conflict) => conflict.column("message_id").doUpdateSet({ ...fresh, undone_at: null }))
          .returningAll()
          .executeTakeFirstOrThrow();
      } catch (error) {
        throw isUniqueViolation(error)
          ? new AppError(
              "conflict",
              "A run is at work in this workspace already. Wait for its end, or stop it.",
            )
          : error;
      }
    },
    async end(id, { status, error, changes, changesProblem }) {
      const set = {
        status,
        error: error ?? null,
        ended_at: seconds(),
        changes: changes === undefined ? null : JSON.stringify(changes),
        changes_problem: changesProblem ?? null,
      };
      await db.updateTable("gateway_run").set(set).where("id", "=", id).execute();
    },
    list: (workspaceId, limit) =>
      db
        .selectFrom("gateway_run")
        .selectAll()
        .where("workspace_id", "=", workspaceId)
        .orderBy("started_at", "desc")
        .orderBy("id")
        .limit(limit)
        .execute(),
    find: (workspaceId, id) =>
      db
        .selectFrom("gateway_run")
        .selectAll()
        .where("workspace_id", "=", workspaceId)
        .where("id", "=", id)
        .executeTakeFirst(),
    async markUndone(id) {
      await db.updateTable("gateway_run").set({ undone_at: seconds() }).where("id", "=", id).execute();
    },
  };
}

/** A run is begun before its reply stands in the chat, which takes a moment. */
const placingSeconds = 60;

/** Finds a run that is at work; one whose process died is ended. */
function createFreeCheck(db: GatewayDatabase, chats: Pick<Chats, "message">): RunStore["requireFree"] {
  const running = (workspaceId: string) =>
    db
      .selectFrom("gateway_run")
      .selectAll()
      .where("workspace_id", "=", workspaceId)
      .where("status", "=", "running")
      .executeTakeFirst();
  return async (workspaceId, messageId) => {
    const other = await running(workspaceId);
    if (other === undefined || other.message_id === messageId) {
      return;
    }
    const found = await chats.message(other.chat_id, other.message_id);
    const isPlaced = found !== undefined || other.started_at < seconds() - placingSeconds;
    if (!isPlaced || (found !== undefined && found.message["done"] !== true)) {
      throw new AppError(
        "conflict",
        `A run is at work in this workspace already, in the chat ${other.chat_id}. Wait for its end, or stop it.`,
      );
    }
    // The process that worked on it died: its reply was ended, its run was not.
    await db
      .updateTable("gateway_run")
      .set({ status: "failed", error: "interrupted", ended_at: seconds() })
      .where("id", "=", other.id)
      .where("status", "=", "running")
      .execute();
  };
}

/** The stored list of what a run changed; undefined while it is not known. */
export function changesOf({ changes }: GatewayRun): FileChange[] | undefined {
  return changes === null ? undefined : (JSON.parse(changes) as FileChange[]);
}
