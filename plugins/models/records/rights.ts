import type { Principal } from "#kernel/access/principal.ts";
import type { GrantInput, GrantRow } from "#storage/grants.ts";
import type { ModelParts } from "../parts.ts";
import { resourceType } from "../parts.ts";
import type { ModelRow } from "./store.ts";

type Parts = Pick<ModelParts, "access" | "grants" | "accounts">;

/** Ids of the rows that the caller may change, in one query. */
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

/** The wanted grants that the caller may give. */
export async function toStoredGrants(
  { accounts }: Parts,
  caller: Principal,
  grants: { wanted: readonly GrantInput[]; held: readonly GrantRow[] },
): Promise<GrantInput[]> {
  return await accounts.givenGrants(caller, { ...grants, everybody: "sharing.public_models" });
}
