import { sql, type Expression, type Kysely, type Selectable, type SqlBool } from "kysely";
import { seconds } from "./clock.ts";
import type { AccessGrantTable, CoreTables, GrantPermission } from "./core-tables.ts";
import type { Database } from "./handle.ts";
import { normaliseGrants, type GrantInput } from "./grant-rules.ts";
import { sweepGrants, type ExistingResources } from "./grant-sweep.ts";
import { notifyWith } from "./notify.ts";
import { anyOf } from "./values.ts";

export { InvalidGrantError, type GrantInput } from "./grant-rules.ts";

/** The caller; `userId` is null for a visitor who is not signed in. */
export interface GrantPrincipal {
  readonly userId: string | null;
  readonly groupIds: readonly string[];
}

export type GrantRow = Selectable<AccessGrantTable>;

type Held = Pick<GrantInput, "principal_type" | "principal_id">;

/** The people whom `given` names and `held` did not, each once. Groups and everybody are none. */
export function newReaders(held: readonly Held[], given: readonly Held[]): string[] {
  const isPerson = ({ principal_type: type, principal_id: id }: Held) => type === "user" && id !== "*";
  const before = new Set(held.filter(isPerson).map(({ principal_id: id }) => id));
  const now = new Set(given.filter(isPerson).map(({ principal_id: id }) => id));
  return [...now].filter((id) => !before.has(id));
}

// oxlint-disable-next-line typescript/no-explicit-any -- callers pass the handle of their own tables
type Executor = Kysely<any>;

/** Announced with `{type, ids}` (without ids when there are many) when grants changed. */
export const GRANTS_CHANNEL = "grants";

/** Who may read or write rows they do not own. */
export interface Grants {
  /** The grants of resources, oldest first. */
  list(type: string, ids: readonly string[]): Promise<GrantRow[]>;
  /** Makes `grants` the grants of a resource; those that stay keep their id. Throws InvalidGrantError. */
  replace(executor: Executor, type: string, id: string, grants: readonly GrantInput[]): Promise<GrantRow[]>;
  /** Removes the grants of deleted resources; called in the transaction that deletes them. */
  forget(executor: Executor, type: string, ids: readonly string[]): Promise<void>;
  /** Removes what a deleted user or group was granted. */
  forgetPrincipal(executor: Executor, type: "user" | "group", id: string): Promise<void>;
  /** Those of `ids` that the principal is granted. */
  allowed(
    principal: GrantPrincipal,
    permission: GrantPermission,
    type: string,
    ids: readonly string[],
  ): Promise<Set<string>>;
  /** Removes grants whose principal or resource is gone and returns their number; `existing` tells by type which ids exist. */
  sweep(existing: ExistingResources): Promise<number>;
}

/**
 * True in SQL where the principal is granted the permission on the row that `id` names, for lists that join
 * ownership: `owner OR granted`. `eb` is the query's expression builder, `id` its column, e.g. `calendar.id`.
 */
export function granted<R extends string>(
  eb: { ref(reference: R): Expression<unknown> },
  type: string,
  id: R,
  principal: GrantPrincipal,
  permission: GrantPermission,
): Expression<SqlBool> {
  return sql<SqlBool>`exists (
    select 1 from access_grant as held
    where held.resource_type = ${type} and held.resource_id = ${eb.ref(id)}
      and ${matches(principal, permission, type)})`;
}

/** Grants in the `access_grant` table. */
export function createGrants(database: Database): Grants {
  const db = database.db as Kysely<CoreTables>;
  const list = (executor: Kysely<CoreTables>, type: string, ids: readonly string[]) =>
    executor
      .selectFrom("access_grant")
      .selectAll()
      .where("resource_type", "=", type)
      .where("resource_id", "=", anyOf(ids))
      .orderBy("id")
      .execute();
  return {
    list: async (type, ids) => (ids.length === 0 ? [] : await list(db, type, ids)),
    async replace(executor, type, id, grants) {
      const wanted = await dropUnknownGroups(executor, normaliseGrants(type, grants));
      // Two replacements of one resource at once would otherwise leave the rows of both.
      await sql`select pg_advisory_xact_lock(hashtext(${`grants ${type}`}), hashtext(${id}))`.execute(
        executor,
      );
      const held = await list(executor, type, [id]);
      const wantedKeys = new Set(wanted.map(toKey));
      const heldKeys = new Set(held.map(toKey));
      const gone = held.filter((grant) => !wantedKeys.has(toKey(grant)));
      const fresh = wanted.filter((grant) => !heldKeys.has(toKey(grant)));
      if (gone.length > 0) {
        const ids = gone.map((grant) => grant.id);
        await executor.deleteFrom("access_grant").where("id", "in", ids).execute();
      }
      if (fresh.length > 0) {
        const row = { resource_type: type, resource_id: id, created_at: seconds() };
        await executor
          .insertInto("access_grant")
          .values(fresh.map((grant) => ({ ...grant, ...row })))
          .execute();
      }
      if (gone.length + fresh.length > 0) {
        await announce(executor, type, [id]);
      }
      return await list(executor, type, [id]);
    },
    async forget(executor, type, ids) {
      if (ids.length > 0) {
        const query = executor.deleteFrom("access_grant").where("resource_type", "=", type);
        await query.where("resource_id", "=", anyOf(ids)).execute();
        await announce(executor, type, ids);
      }
    },
    async forgetPrincipal(executor, type, id) {
      await executor
        .deleteFrom("access_grant")
        .where("principal_type", "=", type)
        .where("principal_id", "=", id)
        .execute();
      await announce(executor, null, []);
    },
    async allowed(principal, permission, type, ids) {
      if (ids.length === 0) {
        return new Set();
      }
      const rows = await db
        .selectFrom("access_grant as held")
        .select("held.resource_id")
        .distinct()
        .where("held.resource_type", "=", type)
        .where("held.resource_id", "=", anyOf(ids))
        .where(matches(principal, permission, type))
        .execute();
      return new Set(rows.map((row) => row.resource_id));
    },
    async sweep(existing) {
      const removed = await sweepGrants(db, existing);
      if (removed > 0) {
        await announce(db, null, []);
      }
      return removed;
    },
  };
}

/** The rule of who a grant is for and what it allows; `held` is the grant. */
function matches(principal: GrantPrincipal, permission: GrantPermission, type: string): Expression<SqlBool> {
  const ways: Expression<SqlBool>[] = [];
  if (principal.userId !== null) {
    // Access grant rule 3: the star means every signed-in user.
    ways.push(sql`(held.principal_type = 'user' and held.principal_id in (${principal.userId}, '*'))`);
    if (principal.groupIds.length > 0) {
      const groups = anyOf(principal.groupIds);
      ways.push(sql`(held.principal_type = 'group' and held.principal_id = ${groups})`);
    }
  }
  // Access grant rule 4: open share links, and nothing else, need no sign-in.
  if (type === "shared_chat") {
    ways.push(sql`held.principal_type = 'anyone'`);
  }
  const who = ways.length > 0 ? sql<SqlBool>`(${sql.join(ways, sql` or `)})` : sql<SqlBool>`false`;
  // Write implies read.
  return permission === "read" ? who : sql<SqlBool>`(held.permission = 'write' and ${who})`;
}

const toKey = (grant: Required<GrantInput>) =>
  [grant.principal_type, grant.principal_id, grant.permission].join(" ");

async function dropUnknownGroups(
  executor: Kysely<CoreTables>,
  grants: Required<GrantInput>[],
): Promise<Required<GrantInput>[]> {
  const named = grants.filter((grant) => grant.principal_type === "group").map((grant) => grant.principal_id);
  if (named.length === 0) {
    return grants;
  }
  const rows = await executor.selectFrom("group").select("id").where("id", "=", anyOf(named)).execute();
  const known = new Set(rows.map((row) => row.id));
  return grants.filter((grant) => grant.principal_type !== "group" || known.has(grant.principal_id));
}

async function announce(executor: Executor, type: string | null, ids: readonly string[]): Promise<void> {
  const size = ids.reduce((sum, id) => sum + Buffer.byteLength(JSON.stringify(id)) + 1, 0);
  await notifyWith(executor, GRANTS_CHANNEL, {
    ...(type === null ? {} : { type }),
    ...(ids.length > 0 && size < 7_000 ? { ids } : {}),
  });
}
