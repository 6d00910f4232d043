import type { AuditEntry, AuditVerb } from "#plugins/audit/service.ts";
import { toGroupIds } from "../calls/active.ts";
import type { FunctionRow } from "./function-store.ts";
import type { FunctionsDatabase } from "../tables.ts";

/** Appends an action to the record of what is done to functions, with the transaction of the change where there is one. */
export type RecordEntry = (entry: AuditEntry, transaction?: FunctionsDatabase) => Promise<void>;

/** The record of one change of a function. */
export function toEntry(
  action: AuditVerb,
  { before, after }: { before?: FunctionRow | undefined; after?: FunctionRow | undefined },
): AuditEntry {
  const row = after ?? before;
  return {
    action: `function.${action}`,
    object: { type: "function", id: row?.id ?? "", name: row?.name ?? null },
    ...(before && { before: toState(before) }),
    ...(after && { after: toState(after) }),
  };
}

/** Code stands in the versions; the record names them. */
function toState({ name, type, version, is_active, is_global, error, pending, meta }: FunctionRow) {
  return { name, type, version, is_active, is_global, error, pending, group_ids: toGroupIds(meta) };
}
