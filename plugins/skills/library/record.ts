import type { Principal } from "#kernel/access/principal.ts";
import type { AuditEntry, AuditVerb } from "#plugins/audit/service.ts";
import type { GrantInput } from "#storage/grants.ts";
import type { SkillParts } from "../parts.ts";
import { resourceType, type SkillRow } from "../tables.ts";
import { listFiles } from "./skill-store.ts";

type Showing = Pick<SkillParts, "access" | "grants" | "db">;

/** Skills as the caller may see them. Grants are shown to those who may change the skill. */
export async function showSkills(
  { access, grants, db }: Showing,
  caller: Principal,
  rows: readonly SkillRow[],
) {
  const ids = rows.map(({ id }) => id);
  const [held, writable, files] = await Promise.all([
    grants.list(resourceType, ids),
    grants.allowed(caller, "write", resourceType, ids),
    listFiles(db, ids),
  ]);
  const grantsOf = Map.groupBy(held, (grant) => grant.resource_id);
  const filesOf = Map.groupBy(files, (file) => file.skill_id);
  return rows.map((row) => {
    const mayWrite = access.passes(caller) || row.user_id === caller.userId || writable.has(row.id);
    return {
      ...row,
      files: (filesOf.get(row.id) ?? []).map(({ path, size }) => ({ path, size })),
      access_grants: mayWrite ? (grantsOf.get(row.id) ?? []).map((grant) => ({ ...grant })) : [],
      write_access: mayWrite,
    };
  });
}

export type SkillShown = Awaited<ReturnType<typeof showSkills>>[number];

export async function showSkill(parts: Showing, caller: Principal, row: SkillRow): Promise<SkillShown> {
  return (await showSkills(parts, caller, [row]))[0] as SkillShown;
}

/** The audit record of one change. */
export function toEntry(
  action: AuditVerb,
  { before, after, grants }: { before?: SkillRow; after?: SkillRow; grants?: readonly GrantInput[] },
): AuditEntry {
  const row = after ?? before;
  const toState = ({ name, description, is_active: isActive }: SkillRow) => ({
    name,
    description,
    is_active: isActive,
  });
  return {
    action: `skill.${action}`,
    object: { type: resourceType, id: row?.id ?? "", name: row?.name ?? null },
    ...(before && { before: toState(before) }),
    ...(after && { after: { ...toState(after), ...(grants && { access_grants: [...grants] }) } }),
  };
}
