import { mergeGroups, type PartialPermissionTree } from "#kernel/access/permissions.ts";
import type { Principal, Role } from "#kernel/access/principal.ts";
import type { AppIdentity } from "../users/bots-service.ts";
import type { PermissionDefaults } from "../permissions/permissions.ts";
import type { AccountsDatabase } from "../tables.ts";

/** The facts of an account that a principal is built from. */
export interface AccountFacts {
  readonly id: string;
  readonly name: string;
  readonly email: string;
  readonly role: Role;
  readonly active: boolean;
  readonly stamp: string;
  readonly groups: readonly { readonly id: string; readonly permissions: PartialPermissionTree | null }[];
}

/** Reads what a principal is made of; undefined when the account is gone. */
export async function findAccountFacts(
  db: AccountsDatabase,
  userId: string,
): Promise<AccountFacts | undefined> {
  const account = await db
    .selectFrom("user")
    .innerJoin("auth", "auth.id", "user.id")
    .select(["user.id", "user.name", "user.email", "user.role", "auth.active", "user.session_stamp as stamp"])
    .where("user.id", "=", userId)
    .executeTakeFirst();
  if (account === undefined) {
    return undefined;
  }
  const groups = await db
    .selectFrom("group_member")
    .innerJoin("group", "group.id", "group_member.group_id")
    .select(["group.id", "group.permissions"])
    .where("group_member.user_id", "=", userId)
    .orderBy("group.id")
    .execute();
  return { ...account, groups: groups as AccountFacts["groups"] };
}

/** The caller an account makes, frozen: requests share it. Work on behalf of an account counts as a session without a token. */
export function toPrincipal(
  facts: AccountFacts,
  defaults: PermissionDefaults,
  shown: Pick<Principal, "credential" | "session" | "viewer">,
): Principal {
  const granted = facts.groups.map((group) => group.permissions ?? {});
  return freeze({
    userId: facts.id,
    role: facts.role,
    name: facts.name,
    email: facts.email,
    groupIds: facts.groups.map((group) => group.id),
    permissions: mergeGroups(defaults.current(), granted),
    ...shown,
  });
}

/** The caller that an app's key makes. It has no permission but to channels, whatever people have. */
export function toAppPrincipal({ id, userId, name, scopes }: AppIdentity): Principal {
  return freeze({
    userId,
    role: "user",
    name,
    email: "",
    groupIds: [],
    permissions: { features: { channels: true } },
    credential: "api_key",
    session: null,
    app: { id, scopes: [...scopes] },
  });
}

function freeze<T extends object>(value: T): T {
  for (const inner of Object.values(value)) {
    if (typeof inner === "object" && inner !== null) {
      freeze(inner);
    }
  }
  return Object.freeze(value);
}
