import { createHash, randomUUID } from "node:crypto";
import type { Principal } from "#kernel/access/principal.ts";
import type { Access } from "#kernel/access/resource.ts";
import type { Tool } from "#kernel/tools/tool.ts";
import { seconds } from "#storage/clock.ts";
import type { ApprovalDatabase } from "./tables.ts";

export type Decision = "allow" | "deny";

/** A tool as it was when a person decided about it. */
export interface DecidedTool {
  readonly toolId: string;
  readonly name: string;
  readonly title: string | null;
  readonly server: string | null;
  readonly description: string;
  readonly fingerprint: string;
}

const maxDescription = 2_000;

/** The tool with a fingerprint of its revision; without one, of everything that models and people see of it. */
export function toDecidedTool({ id, spec, title, server, revision }: Tool): DecidedTool {
  const content = revision === undefined ? [spec.description, spec.parameters] : [revision];
  const facts = JSON.stringify([id, spec.name, ...content]);
  return {
    toolId: id,
    name: spec.name,
    title: title ?? null,
    server: server ?? null,
    description: spec.description.slice(0, maxDescription),
    fingerprint: createHash("sha256").update(facts).digest("hex"),
  };
}

/** A decision for all calls; `isOutdated` when the tool is not what it was when the person decided. */
export interface KnownDecision {
  readonly decision: Decision;
  readonly description: string;
  readonly isOutdated: boolean;
}

export interface StoredDecision {
  readonly id: string;
  readonly tool_id: string;
  readonly name: string;
  readonly title: string | null;
  readonly server: string | null;
  readonly description: string | null;
  readonly decision: Decision;
  readonly created_at: number;
}

export type StoredDecisions = ReturnType<typeof createStoredDecisions>;

/** Decisions of people for all calls of a tool; administrators do not decide for others. */
export function createStoredDecisions(db: ApprovalDatabase, access: Access) {
  const loader = access.loader({
    type: "tool_approval",
    find: (id) => db.selectFrom("tool_approval").selectAll().where("id", "=", id).executeTakeFirst(),
    ownerOf: (row) => row.user_id,
    adminPasses: false,
  });
  return {
    async find(userId: string, tool: DecidedTool): Promise<KnownDecision | undefined> {
      const row = await db
        .selectFrom("tool_approval")
        .select(["decision", "description", "fingerprint"])
        .where("user_id", "=", userId)
        .where("tool_id", "=", tool.toolId)
        .where("name", "=", tool.name)
        .executeTakeFirst();
      return (
        row && {
          decision: row.decision,
          description: row.description ?? "",
          isOutdated: row.fingerprint !== tool.fingerprint,
        }
      );
    },

    async store(userId: string, tool: DecidedTool, decision: Decision): Promise<void> {
      const { title, server, description, fingerprint } = tool;
      const facts = { title, server, description, fingerprint, decision, created_at: seconds() };
      await db
        .insertInto("tool_approval")
        .values({ id: randomUUID(), user_id: userId, tool_id: tool.toolId, name: tool.name, ...facts })
        .onConflict((conflict) => conflict.columns(["user_id", "tool_id", "name"]).doUpdateSet(facts))
        .execute();
    },

    list(caller: Principal): Promise<StoredDecision[]> {
      return db
        .selectFrom("tool_approval")
        .select(["id", "tool_id", "name", "title", "server", "description", "decision", "created_at"])
        .where("user_id", "=", caller.userId)
        .orderBy("tool_id")
        .orderBy("name")
        .execute();
    },

    /** Throws `not_found` for what is not the caller's. */
    async forget(caller: Principal, id: string): Promise<void> {
      const row = await loader.load(caller, id, "write");
      await db.deleteFrom("tool_approval").where("id", "=", row.id).execute();
    },

    async forgetAll(caller: Principal): Promise<void> {
      await db.deleteFrom("tool_approval").where("user_id", "=", caller.userId).execute();
    },
  };
}
