import type { Principal } from "#kernel/access/principal.ts";
import type { AuditEntry, AuditVerb } from "#plugins/audit/service.ts";
import type { GrantInput } from "#storage/grants.ts";
import type { PromptParts } from "../parts.ts";
import { type PromptRow, resourceType } from "../tables.ts";

/** Prompts as the caller may see them, in two queries. Grants are shown to those who may change the prompt. */
export async function showPrompts(
  { access, grants }: Pick<PromptParts, "access" | "grants">,
  caller: Principal,
  rows: readonly PromptRow[],
) {
  const ids = rows.map(({ id }) => id);
  const [held, writable] = await Promise.all([
    grants.list(resourceType, ids),
    grants.allowed(caller, "write", resourceType, ids),
  ]);
  const byPrompt = Map.groupBy(held, (grant) => grant.resource_id);
  return rows.map((row) => {
    const mayWrite = access.passes(caller) || row.user_id === caller.userId || writable.has(row.id);
    return {
      ...row,
      tags: [...row.tags],
      access_grants: mayWrite ? (byPrompt.get(row.id) ?? []).map((grant) => ({ ...grant })) : [],
      write_access: mayWrite,
    };
  });
}

export type PromptShown = Awaited<ReturnType<typeof showPrompts>>[number];

export async function showPrompt(
  parts: Pick<PromptParts, "access" | "grants">,
  caller: Principal,
  row: PromptRow,
): Promise<PromptShown> {
  return (await showPrompts(parts, caller, [row]))[0] as PromptShown;
}

/** The audit record of one change; texts stand in the versions, and the record names them. */
export function toEntry(
  action: AuditVerb,
  sides: { before?: PromptRow; after?: PromptRow; grants?: readonly GrantInput[] },
): AuditEntry {
  const { before, after, grants } = sides;
  const row = after ?? before;
  const toState = ({ name, command, is_active, version_id, tags }: PromptRow) => ({
    name,
    command,
    is_active,
    version_id,
    tags,
  });
  return {
    action: `prompt.${action}`,
    object: { type: resourceType, id: row?.id ?? "", name: row?.name ?? null },
    ...(before && { before: toState(before) }),
    ...(after && { after: { ...toState(after), ...(grants && { access_grants: [...grants] }) } }),
  };
}
