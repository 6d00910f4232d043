import { type RawBuilder, sql, type SqlBool } from "kysely";
import { anyOf } from "#storage/values.ts";
import type { ScimDatabase } from "../tables.ts";
import type { GroupRow } from "./groups-record.ts";
import type { Member } from "./state.ts";
import type { HeldGroup, UserRow } from "./users-record.ts";

// Reads accounts and groups from the platform's own tables; the service of accounts alone writes them.

/** Accounts that a provider removed are outside of its view (contract D.26), and those of bots. */
const isShown = sql<SqlBool>`(("user".scim ->> 'removed_at') is null and not "user".is_bot)`;

const userFields = [
  "user.id",
  "user.email",
  "user.name",
  "user.role",
  "user.scim",
  "user.created_at",
  "user.updated_at",
] as const;
const groupFields = ["id", "name", "meta", "created_at", "updated_at"] as const;

/** Order, part and condition of a list. */
export interface Listing {
  readonly condition: RawBuilder<SqlBool> | undefined;
  /** A column and its direction; the oldest first without one. */
  readonly order: { readonly by: RawBuilder<unknown>; readonly direction: "asc" | "desc" } | undefined;
  readonly offset: number;
  readonly limit: number;
}

/** One page of rows and how many there are in all. */
export interface Page<T> {
  readonly rows: readonly T[];
  readonly total: number;
}

/** The account with this id, unless it was removed; `locked` for a change in the transaction. */
export async function findUser(
  db: ScimDatabase,
  id: string,
  { locked = false } = {},
): Promise<UserRow | undefined> {
  return await db
    .selectFrom("user")
    .select(userFields)
    .where("id", "=", id)
    .where(isShown)
    .$if(locked, (query) => query.forUpdate())
    .executeTakeFirst();
}

/** The id of an account that was removed and has this address. */
export async function findRemoved(db: ScimDatabase, email: string): Promise<string | undefined> {
  const removed = sql<SqlBool>`(scim ->> 'removed_at') is not null`;
  const query = db.selectFrom("user").select("id").where("email", "=", email).where(removed);
  return (await query.forUpdate().executeTakeFirst())?.id;
}

/** The first of these addresses with which another account signs in, also one outside of the provider's view. */
export async function findAddressOfOther(
  db: ScimDatabase,
  addresses: readonly string[],
  own: string | undefined,
): Promise<string | undefined> {
  if (addresses.length === 0) {
    return undefined;
  }
  const row = await db
    .selectFrom("user")
    .select("email")
    .where("email", "=", anyOf(addresses))
    .$if(own !== undefined, (query) => query.where("id", "<>", own as string))
    .orderBy("email")
    .executeTakeFirst();
  return row?.email;
}

/** Whether a group has more members than this. */
export async function hasMoreMembers(db: ScimDatabase, groupId: string, count: number): Promise<boolean> {
  const rows = await db
    .selectFrom("group_member")
    .select("user_id")
    .where("group_id", "=", groupId)
    .limit(count + 1)
    .execute();
  return rows.length > count;
}

/**
 * The id of the account, or group, that has this external id; who asks in a transaction keeps it from being taken until it
 * ends.
 */
export async function findByExternalId(
  tx: ScimDatabase,
  table: "user" | "group",
  externalId: string,
): Promise<string | undefined> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`scim:${table}:${externalId}`}, 0))`.execute(tx);
  const own = table === "user" ? sql`(scim ->> 'external_id')` : sql`(meta #>> '{scim,external_id}')`;
  const row = await tx
    .selectFrom(table)
    .select("id")
    .where(sql<SqlBool>`${own} = ${externalId}`)
    .executeTakeFirst();
  return row?.id;
}

export async function listUsers(db: ScimDatabase, listing: Listing): Promise<Page<UserRow>> {
  const found = db
    .selectFrom("user")
    .where(isShown)
    .$if(listing.condition !== undefined, (query) => query.where(listing.condition as RawBuilder<SqlBool>));
  const { count } = await found.select(counted).executeTakeFirstOrThrow();
  const rows =
    listing.limit === 0
      ? []
      : await found
          .select(userFields)
          .$if(listing.order !== undefined, (query) =>
            query.orderBy(listing.order?.by as RawBuilder<unknown>, listing.order?.direction),
          )
          .orderBy("created_at")
          .orderBy("id")
          .offset(listing.offset)
          .limit(listing.limit)
          .execute();
  return { rows, total: Number(count) };
}

const counted = sql<number | bigint | string>`count(*)`.as("count");

/** The group with this id; `locked` for a change in the transaction. */
export async function findGroup(
  db: ScimDatabase,
  id: string,
  { locked = false } = {},
): Promise<GroupRow | undefined> {
  return await db
    .selectFrom("group")
    .select(groupFields)
    .where("id", "=", id)
    .$if(locked, (query) => query.forUpdate())
    .executeTakeFirst();
}

export async function listGroups(db: ScimDatabase, listing: Listing): Promise<Page<GroupRow>> {
  const found = db
    .selectFrom("group")
    .$if(listing.condition !== undefined, (query) => query.where(listing.condition as RawBuilder<SqlBool>));
  const { count } = await found.select(counted).executeTakeFirstOrThrow();
  const rows =
    listing.limit === 0
      ? []
      : await found
          .select(groupFields)
          .$if(listing.order !== undefined, (query) =>
            query.orderBy(listing.order?.by as RawBuilder<unknown>, listing.order?.direction),
          )
          .orderBy("created_at")
          .orderBy("id")
          .offset(listing.offset)
          .limit(listing.limit)
          .execute();
  return { rows, total: Number(count) };
}

/** The displayName; null for people to whom their provider gives none. */
const shownName = sql<
  string | null
>`case when "user".scim ->> 'display' = 'none' then null else "user".name end`;

/** The members of these groups, by group; one statement for however many. */
export async function listMembers(
  db: ScimDatabase,
  groupIds: readonly string[],
): Promise<Map<string, Member[]>> {
  const members = new Map<string, Member[]>(groupIds.map((id) => [id, []]));
  const rows = await db
    .selectFrom("group_member")
    .innerJoin("user", "user.id", "group_member.user_id")
    .select(["group_member.group_id", "user.id as value", shownName.as("display")])
    .where("group_member.group_id", "=", anyOf(groupIds))
    .where(isShown)
    .orderBy("group_member.created_at")
    .orderBy("user.id")
    .execute();
  for (const { group_id: groupId, value, display } of rows) {
    members.get(groupId)?.push({ value, ...(display !== null && { display }) });
  }
  return members;
}

/** The groups of these accounts, by account; one statement for however many. */
export async function listHeldGroups(
  db: ScimDatabase,
  userIds: readonly string[],
): Promise<Map<string, HeldGroup[]>> {
  const held = new Map<string, HeldGroup[]>(userIds.map((id) => [id, []]));
  const rows = await db
    .selectFrom("group_member")
    .innerJoin("group", "group.id", "group_member.group_id")
    .select(["group_member.user_id", "group.id", "group.name"])
    .where("group_member.user_id", "=", anyOf(userIds))
    .orderBy("group.name")
    .orderBy("group.id")
    .execute();
  for (const { user_id: userId, id, name } of rows) {
    held.get(userId)?.push({ id, name });
  }
  return held;
}

/** Those of these ids that stand for no account in view. */
export async function findUnknownUsers(db: ScimDatabase, ids: readonly string[]): Promise<string[]> {
  if (ids.length === 0) {
    return [];
  }
  const rows = await db.selectFrom("user").select("id").where("id", "=", anyOf(ids)).where(isShown).execute();
  const known = new Set(rows.map(({ id }) => id));
  return ids.filter((id) => !known.has(id));
}
