import type { Principal } from "#kernel/access/principal.ts";
import type { GrantInput, GrantRow } from "#storage/grants.ts";
import type { ModelParts } from "./parts.ts";
import { resourceType } from "./parts.ts";
import { toAllowedGrants } from "./sharing.ts";
import type { ModelRow } from "./store.ts";

type Parts = Pick<ModelParts, "access" | "grants" | "accounts">;

/** Those of some rows that the caller may change, asked at once. */
export async function findWritable(
  { access, grants }: Parts,
  caller: Principal,
  rows: readonly Pick<ModelRow, "id" | "user_id">[],
): Promise<Set<string>> {
  const ids = rows.map(({ id }) => id);
  if (access.passes(caller)) {
    return new Set(ids);
  }
  const granted = await grants.allowed(caller, "write", resourceType, ids);
  return new Set(
    rows.filter((row) => row.user_id === caller.userId || granted.has(row.id)).map(({ id }) => id),
  );
}

/** What is stored of wanted grants: what the caller may give, for accounts that exist. */
export async function toStoredGrants(
  { accounts }: Parts,
  caller: Principal,
  { wanted, held }: { wanted: readonly GrantInput[]; held: readonly GrantRow[] },
): Promise<GrantInput[]> {
  const allowed = toAllowedGrants(caller, wanted, held);
  const users = allowed.filter(({ principal_type: type, principal_id: id }) => type === "user" && id !== "*");
  const known = await accounts.summaries(users.map(({ principal_id: id }) => id));
  return allowed.filter((grant) => !users.includes(grant) || known.has(grant.principal_id));
}
