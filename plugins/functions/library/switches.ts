import type { AuditVerb } from "#plugins/audit/service.ts";
import type { Principal } from "#kernel/access/principal.ts";
import { AppError } from "#kernel/errors.ts";
import type { Sandbox } from "#kernel/sandbox.ts";
import { loadFacts, toScript } from "../calls/load.ts";
import type { FunctionsTransaction } from "../tables.ts";
import { addWish, dropWish, isAdmin, toApproved, toOpenReasons } from "./approval.ts";
import type { FunctionChanges } from "./changes.ts";
import { type RecordEntry, toEntry } from "./record-change.ts";
import { type FunctionRow, requireFunction, updateFields } from "./function-store.ts";

export interface SwitchesParts {
  readonly transaction: FunctionsTransaction;
  readonly record: RecordEntry;
  readonly sandbox: Sandbox;
  readonly changes: FunctionChanges;
  /** The function for somebody who may change it. */
  find(caller: Principal, id: string): Promise<FunctionRow>;
}

/** On and off, for all models or some, and the questions of authors about both (contract D.40). */
export function createSwitches({ transaction, record, sandbox, changes, find }: SwitchesParts) {
  /** Stores another state of a function, or a question for administrators about it. */
  async function change(caller: Principal, row: FunctionRow, fields: Parameters<typeof updateFields>[2]) {
    const next = await transaction(async (tx) => {
      const after = requireFunction(await updateFields(tx, row.id, fields));
      await record(toEntry(toAction(row, after), { before: row, after }), tx);
      return after;
    });
    await changes.changed(row.id);
    if (next.is_active !== row.is_active) {
      changes.announce(next.is_active ? "enabled" : "disabled", caller, next);
    } else {
      changes.announce("updated", caller, next);
    }
    return next;
  }

  async function enable(caller: Principal, row: FunctionRow): Promise<FunctionRow> {
    await loadFacts(sandbox, toScript(row));
    if (!isAdmin(caller) && toOpenReasons(row).length > 0) {
      return await change(caller, row, { pending: addWish(row, { active: true }) });
    }
    changes.announce("enable_started", caller, row);
    const pending = dropWish(row.pending, "active");
    const approved = isAdmin(caller) ? { approved: toApproved(row) } : {};
    return await change(caller, row, { is_active: true, error: null, pending, ...approved });
  }

  return {
    async toggle(caller: Principal, id: string) {
      const row = await find(caller, id);
      if (!row.is_active) {
        return await enable(caller, row);
      }
      changes.announce("disable_started", caller, row);
      return await change(caller, row, { is_active: false, error: null });
    },
    async toggleGlobal(caller: Principal, id: string) {
      const row = await find(caller, id);
      if (!row.is_global && !isAdmin(caller)) {
        return await change(caller, row, { pending: addWish(row, { global: true }) });
      }
      return await change(caller, row, {
        is_global: !row.is_global,
        pending: dropWish(row.pending, "global"),
      });
    },
    /** Uses a filter for the members of these groups, and for no others. */
    async useForGroups(caller: Principal, id: string, groupIds: readonly string[]) {
      const row = await find(caller, id);
      return await change(caller, row, { meta: { ...row.meta, group_ids: [...new Set(groupIds)] } });
    },
    /** Does what the author asked for; `version` is the code that the administrator has seen. */
    async approve(caller: Principal, id: string, version: string) {
      const row = await find(caller, id);
      if (row.pending === null) {
        throw new AppError("conflict", "Nothing waits for an answer here.");
      }
      if (String(row.version) !== version) {
        throw new AppError("conflict", "The code has changed since you looked at it. Read it again first.");
      }
      const { active, global } = row.pending;
      const enabled = active && !row.is_active ? await enable(caller, row) : row;
      return await change(caller, enabled, { pending: null, ...(global ? { is_global: true } : {}) });
    },
    /** Takes the question back: administrators say no, the author no longer asks. */
    async decline(caller: Principal, id: string) {
      return await change(caller, await find(caller, id), { pending: null });
    },
  };
}

function toAction(before: FunctionRow, after: FunctionRow): AuditVerb {
  if (before.is_active !== after.is_active) {
    return after.is_active ? "enabled" : "disabled";
  }
  return after.pending !== null && before.pending === null ? "asked" : "updated";
}
