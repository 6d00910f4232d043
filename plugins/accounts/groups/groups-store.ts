import { type Selectable, sql } from "kysely";
import type { PartialPermissionTree } from "#kernel/access/permissions.ts";
import { seconds } from "#storage/clock.ts";
import type { CoreTables } from "#storage/core-tables.ts";
import { anyOf, toJson } from "#storage/values.ts";
import type { AccountsDatabase } from "../tables.ts";
import type { ShareRule } from "../users/user-schema.ts";
import { userColumns, type UserRow } from "../users/users-store.ts";

// Queries over `group` and `group_member` alone.

export type GroupRow = Selectable<CoreTables["group"]>;
export type CountedGroup = GroupRow & { member_count: number };

export interface NewGroup {
  /** Its maker; null for an identity provider. */
  readonly userId: string | null;
  readonly name: string;
  readonly description: string;
  readonly permissions: PartialPermissionTree | null;
  readonly share: ShareRule;
}

export interface GroupChanges {
  readonly name?: string;
  readonly description?: string;
  readonly permissions?: PartialPermissionTree | null;
  readonly share?: ShareRule;
}

/**
 * Which groups a list holds: all, those a member belongs to (of these the ones that `visibleTo` may know of), or those
 * a member may share with.
 */
export type GroupScope =
  | { readonly all: true }
  | { readonly memberId: string; readonly visibleTo?: string }
  | { readonly shareableBy: string }
  | { readonly visibleTo: string };

/** Stores a group. */
export async function insertGroup(db: AccountsDatabase, group: NewGroup): Promise<GroupRow> {
  const now = seconds();
  return await db
    .insertInto("group")
    .values({
      id: crypto.randomUUID(),
      user_id: group.userId,
      name: group.name,
      description: group.description,
      permissions: group.permissions && toJson(group.permissions),
      data: toJson({ config: { share: group.share } }),
      meta: null,
      created_at: now,
      updated_at: now,
    })
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** Changes columns of a group; undefined when it is gone. The share rule is merged into `data`. */
export async function updateGroup(
  db: AccountsDatabase,
  id: string,
  changes: GroupChanges,
): Promise<GroupRow | undefined> {
  const { name, description, permissions, share } = changes;
  return await db
    .updateTable("group")
    .set({
      ...(name !== undefined && { name }),
      ...(description !== undefined && { description }),
      ...(permissions !== undefined && { permissions: permissions && toJson(permissions) }),
      ...(share !== undefined && {
        data: sql`coalesce(data, '{}'::jsonb) || jsonb_build_object('config',
          coalesce(data -> 'config', '{}'::jsonb) || jsonb_build_object('share', ${toJson(share)}))`,
      }),
      updated_at: seconds(),
    })
    .where("id", "=", id)
    .returningAll()
    .executeTakeFirst();
}

/** Deletes a group with its memberships; resolves to what it was. */
export async function deleteGroup(db: AccountsDatabase, id: string): Promise<GroupRow | undefined> {
  await db.deleteFrom("group_member").where("group_id", "=", id).execute();
  return await db.deleteFrom("group").where("id", "=", id).returningAll().executeTakeFirst();
}

/** The groups of a scope by name, each with its number of members. */
export async function listGroups(
  db: AccountsDatabase,
  scope: GroupScope,
  id?: string,
): Promise<CountedGroup[]> {
  const rows = await db
    .selectFrom("group")
    .selectAll("group")
    .select(memberCount.as("member_count"))
    .where(toCondition(scope))
    .$if(id !== undefined, (found) => found.where("group.id", "=", id as string))
    .orderBy("group.name")
    .orderBy("group.id")
    .execute();
  return rows.map((row) => ({ ...row, member_count: Number(row.member_count) }));
}

/** The id of a group of this name; who asks in a transaction keeps the name from being taken until it ends. */
export async function findGroupByName(tx: AccountsDatabase, name: string): Promise<string | undefined> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`group:${name}`}, 0))`.execute(tx);
  const row = await tx.selectFrom("group").select("id").where("name", "=", name).executeTakeFirst();
  return row?.id;
}

/** Whether a group other than `own` has this name, whatever its case; nobody else takes one until the transaction ends. */
export async function hasGroupLike(tx: AccountsDatabase, name: string, own: string): Promise<boolean> {
  await findGroupByName(tx, name);
  await sql`select pg_advisory_xact_lock(hashtextextended(${`group-like:${name.toLowerCase()}`}, 0))`.execute(
    tx,
  );
  const row = await tx
    .selectFrom("group")
    .select("id")
    .where(sql<string>`lower(name)`, "=", sql<string>`lower(${name}::text)`)
    .where("id", "<>", own)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

/** The ids of the groups that have one of these names. */
export async function findGroupIds(db: AccountsDatabase, names: readonly string[]): Promise<string[]> {
  if (names.length === 0) {
    return [];
  }
  const rows = await db.selectFrom("group").select("id").where("name", "in", names).execute();
  return rows.map((row) => row.id);
}

/** Those of some names that groups have. */
export async function findKnownNames(db: AccountsDatabase, names: readonly string[]): Promise<string[]> {
  const rows = await db.selectFrom("group").select("name").where("name", "=", anyOf(names)).execute();
  return rows.map(({ name }) => name);
}

/** Those of some groups that are in a scope. */
export async function findGroupsOf(
  db: AccountsDatabase,
  scope: GroupScope,
  ids: readonly string[],
): Promise<string[]> {
  const found = db.selectFrom("group").select("id").where("id", "=", anyOf(ids));
  return (await found.where(toCondition(scope)).execute()).map(({ id }) => id);
}

/** The members of a group by name. */
export async function listMembers(db: AccountsDatabase, groupId: string): Promise<UserRow[]> {
  return await db
    .selectFrom("user")
    .innerJoin("group_member", "group_member.user_id", "user.id")
    .select(userColumns)
    .where("group_member.group_id", "=", groupId)
    .orderBy("user.name")
    .orderBy("user.id")
    .execute();
}

/** The ids of a group's members. */
export async function listMemberIds(db: AccountsDatabase, groupId: string): Promise<string[]> {
  const rows = await db
    .selectFrom("group_member")
    .select("user_id")
    .where("group_id", "=", groupId)
    .orderBy("user_id")
    .execute();
  return rows.map((row) => row.user_id);
}

/** Adds accounts to a group; resolves to those that were not in it before. */
export async function addMembers(
  db: AccountsDatabase,
  groupId: string,
  userIds: readonly string[],
): Promise<string[]> {
  const rows = await sql<{ user_id: string }>`
    insert into group_member (group_id, user_id, created_at)
    select ${groupId}, wanted.id, ${seconds()}::bigint
    from unnest(${[...userIds]}::text[]) as wanted (id)
    on conflict (group_id, user_id) do nothing
    returning user_id`.execute(db);
  return rows.rows.map((row) => row.user_id);
}

/** Names of groups by id. */
export async function findGroupNames(
  db: AccountsDatabase,
  ids: readonly string[],
): Promise<Map<string, string>> {
  if (ids.length === 0) {
    return new Map();
  }
  const rows = await db.selectFrom("group").select(["id", "name"]).where("id", "in", ids).execute();
  return new Map(rows.map(({ id, name }) => [id, name]));
}

/** Takes accounts out of a group; resolves to those that were in it. */
export async function removeMembers(
  db: AccountsDatabase,
  groupId: string,
  userIds: readonly string[],
): Promise<string[]> {
  const rows = await sql<{ user_id: string }>`
    delete from group_member where group_id = ${groupId} and user_id = any(${[...userIds]}::text[])
    returning user_id`.execute(db);
  return rows.rows.map((row) => row.user_id);
}

const memberCount = sql<number | bigint | string>`(
  select count(*) from group_member counted where counted.group_id = "group".id)`;

/** A group without a rule of its own is shared by its members. */
const shareRule = sql`coalesce("group".data #>> '{config,share}', 'members')`;

function toCondition(scope: GroupScope) {
  if ("all" in scope) {
    return sql<boolean>`true`;
  }
  if ("memberId" in scope) {
    const isMember = hasMember(scope.memberId);
    return scope.visibleTo === undefined
      ? isMember
      : sql<boolean>`(${isMember} and ${isVisibleTo(scope.visibleTo)})`;
  }
  return "shareableBy" in scope ? isShareableBy(scope.shareableBy) : isVisibleTo(scope.visibleTo);
}

function isShareableBy(userId: string) {
  return sql<boolean>`(${shareRule} = 'true' or (${shareRule} = 'members' and ${hasMember(userId)}))`;
}

function isVisibleTo(userId: string) {
  return sql<boolean>`(${isShareableBy(userId)} or ${hasMember(userId)})`;
}

function hasMember(userId: string) {
  return sql<boolean>`exists (
    select from group_member own where own.group_id = "group".id and own.user_id = ${userId})`;
}
