import { hasPermission } from "#kernel/access/permissions.ts";
import type { Principal } from "#kernel/access/principal.ts";
import type { GrantInput } from "#storage/grants.ts";
import { findGroupsOf } from "./groups-store.ts";
import type { WantedGrants } from "../service.ts";
import type { AccountsDatabase } from "../tables.ts";
import { findUsers } from "../users/users-store.ts";

/**
 * What of the wanted grants is stored. Contract §0: what somebody may not give is left out without an error; what the
 * resource has already stays, so that sending a form back takes nothing away.
 */
export async function toGivenGrants(
  db: AccountsDatabase,
  caller: Principal,
  { wanted, held, everybody, anyone }: WantedGrants,
): Promise<GrantInput[]> {
  const kept = new Set(held.map(keyOf));
  const fresh = wanted.filter((grant) => !kept.has(keyOf(grant)));
  const users = await findKnownUsers(db, caller, idsOf(fresh, "user"));
  const groups = await findOpenGroups(db, caller, idsOf(fresh, "group"));
  const may = (permission: string | undefined) =>
    permission !== undefined && hasPermission(caller, permission);
  const given = new Set(
    fresh.filter(({ principal_type: type, principal_id: id }) => {
      if (type === "anyone") {
        return may(anyone);
      }
      return type === "group" ? groups.has(id) : id === "*" ? may(everybody) : users.has(id);
    }),
  );
  return wanted.filter((grant) => given.has(grant) || kept.has(keyOf(grant)));
}

async function findKnownUsers(
  db: AccountsDatabase,
  caller: Principal,
  ids: readonly string[],
): Promise<Set<string>> {
  const may = ids.length > 0 && hasPermission(caller, "access_grants.allow_users");
  const found = may ? await findUsers(db, ids) : [];
  return new Set(found.filter((user) => !user.is_bot).map(({ id }) => id));
}

/** Contract 1.5: every group says who may share with it; administrators may with all. */
async function findOpenGroups(
  db: AccountsDatabase,
  caller: Principal,
  ids: readonly string[],
): Promise<Set<string>> {
  const may = ids.length > 0 && hasPermission(caller, "access_grants.allow_groups");
  const scope = caller.role === "admin" ? ({ all: true } as const) : { shareableBy: caller.userId };
  return new Set(may ? await findGroupsOf(db, scope, ids) : []);
}

function idsOf(grants: readonly GrantInput[], wanted: "user" | "group"): string[] {
  const found = grants.filter(({ principal_type: type }) => type === wanted);
  return [...new Set(found.map(({ principal_id: id }) => id))].filter((id) => id !== "*");
}

function keyOf({ principal_type: type, principal_id: id, permission }: GrantInput): string {
  return [type, permission, id].join(" ");
}
