import type { Principal } from "#kernel/access/principal.ts";
import { AppError } from "#kernel/errors.ts";
import type { AuditVerb } from "#plugins/audit/service.ts";
import { declaredCapabilities } from "#plugins/functions/service.ts";
import type { ToolParts } from "../parts.ts";
import { toEntry } from "./record.ts";
import { lockTool, type ToolRow, updateState } from "./tool-store.ts";

/** The answers of administrators to what authors ask for (contract D.40). */
export function createDecisions({ transaction, tools, record, forget }: ToolParts) {
  async function change(
    caller: Principal,
    id: string,
    { action, decide }: { action: AuditVerb; decide(row: ToolRow): Parameters<typeof updateState>[2] },
  ): Promise<ToolRow> {
    await tools.load(caller, id, "write");
    const after = await transaction(async (tx) => {
      const before = await lockTool(tx, id);
      const next = await updateState(tx, id, decide(before));
      await record(toEntry(action, { before, after: next }), tx);
      return next;
    });
    forget(id);
    return after;
  }

  return {
    /** Agrees to what the code declares; `version` is the code that the administrator has seen. */
    approve: async (caller: Principal, id: string, version: string) =>
      await change(caller, id, {
        action: "approved",
        decide(row) {
          if (row.pending === null) {
            throw new AppError("conflict", "Nothing waits for an answer here.");
          }
          if (String(row.version) !== version) {
            throw new AppError(
              "conflict",
              "The code has changed since you looked at it. Read it again first.",
            );
          }
          return { approved: declaredCapabilities(row.meta), pending: null };
        },
      }),
    /** Takes the question back: administrators say no, the author no longer asks. */
    decline: async (caller: Principal, id: string) =>
      await change(caller, id, { action: "declined", decide: () => ({ pending: null }) }),
  };
}

export type Decisions = ReturnType<typeof createDecisions>;
