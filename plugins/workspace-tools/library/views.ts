import type { Principal } from "#kernel/access/principal.ts";
import { resourceType, type ToolParts } from "../parts.ts";
import { toFull, type View } from "./record.ts";
import type { ToolListRow, ToolRow } from "./tool-store.ts";

/** What the caller may see of each row, in two queries. */
export async function viewsOf(
  { access, grants }: Pick<ToolParts, "access" | "grants">,
  caller: Principal,
  rows: readonly Pick<ToolListRow, "id" | "user_id">[],
): Promise<ReadonlyMap<string, View>> {
  const ids = rows.map(({ id }) => id);
  const [held, writable] = await Promise.all([
    grants.list(resourceType, ids),
    grants.allowed(caller, "write", resourceType, ids),
  ]);
  const byTool = Map.groupBy(held, (grant) => grant.resource_id);
  const mayWrite = (row: Pick<ToolListRow, "id" | "user_id">) =>
    access.passes(caller) || row.user_id === caller.userId || writable.has(row.id);
  return new Map(rows.map((row) => [row.id, { grants: byTool.get(row.id) ?? [], writable: mayWrite(row) }]));
}

/** The tool as the caller may see it. */
export async function showTool(parts: Pick<ToolParts, "access" | "grants">, caller: Principal, row: ToolRow) {
  return toFull(row, (await viewsOf(parts, caller, [row])).get(row.id) as View);
}
