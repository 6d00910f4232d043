import { type RawBuilder, sql } from "kysely";
import { seconds } from "#storage/clock.ts";
import { toJson } from "#storage/values.ts";
import type { AccountsDatabase } from "../tables.ts";
import type { ListQuery } from "./user-schema.ts";
import { userColumns, type UserRow } from "./users-store.ts";

// Reading many accounts at once. Every list has a second order by id, so that pages neither repeat nor skip.

/** Accounts on one page of the lists. */
export const pageSize = 30;

/** One page of the accounts whose name, address or user name contains the query, and how many there are in all. */
export async function listUsers(
  db: AccountsDatabase,
  query: ListQuery,
): Promise<{ rows: UserRow[]; total: number }> {
  const matching = listed(db, query.group_id).$if(hasText(query.query), (found) =>
    found.where((eb) => {
      const pattern = toPattern(query.query ?? "");
      return eb.or([
        eb("name", "ilike", pattern),
        eb("email", "ilike", pattern),
        eb("username", "ilike", pattern),
      ]);
    }),
  );
  const { count } = await matching
    .select((eb) => eb.fn.countAll<number | bigint | string>().as("count"))
    .executeTakeFirstOrThrow();
  const direction = query.direction ?? (query.order_by === undefined ? "desc" : "asc");
  const rows = await matching
    .select(userColumns)
    .orderBy(query.order_by ?? "created_at", (order) =>
      (direction === "asc" ? order.asc() : order.desc()).nullsLast(),
    )
    .orderBy("id")
    .limit(pageSize)
    .offset((query.page - 1) * pageSize)
    .execute();
  return { rows, total: Number(count) };
}

function listed(db: AccountsDatabase, groupId: string | undefined) {
  const members = db
    .selectFrom("group_member")
    .select("user_id")
    .where("group_id", "=", groupId ?? "");
  return db
    .selectFrom("user")
    .where("is_bot", "=", false)
    .$if(groupId !== undefined, (found) => found.where("user.id", "in", members));
}

/** Every person's account, oldest first. */
export async function listAllUsers(db: AccountsDatabase): Promise<UserRow[]> {
  return await db
    .selectFrom("user")
    .select(userColumns)
    .where("is_bot", "=", false)
    .orderBy("created_at")
    .orderBy("id")
    .execute();
}

/** Those of these addresses that belong to an account, each with why it cannot be given again. */
export async function findTakenEmails(
  db: AccountsDatabase,
  emails: readonly string[],
): Promise<Map<string, string>> {
  const rows = await db
    .selectFrom("user")
    .select("email")
    .where(sql<boolean>`email = any(${[...emails]}::text[])`)
    .execute();
  return new Map(rows.map(({ email }) => [email, "This e-mail address belongs to an account already."]));
}

/** The groups of each of these accounts, by account. */
export async function listGroups(
  db: AccountsDatabase,
  userIds: readonly string[],
): Promise<Map<string, { id: string; name: string }[]>> {
  const groups = new Map<string, { id: string; name: string }[]>(userIds.map((id) => [id, []]));
  if (userIds.length > 0) {
    const rows = await db
      .selectFrom("group_member")
      .innerJoin("group", "group.id", "group_member.group_id")
      .select(["group_member.user_id", "group.id", "group.name"])
      // One parameter, however many accounts: a statement takes at most 65,535.
      .where(sql<boolean>`group_member.user_id = any(${[...userIds]}::text[])`)
      .orderBy("group.id")
      .execute();
    for (const { user_id: userId, id, name } of rows) {
      groups.get(userId)?.push({ id, name });
    }
  }
  return groups;
}

/** Interface settings as administrators see them; null for those that are longer than a list should carry. */
export type ShownSettings = { ui: Record<string, unknown> } | null;

/** Interface settings that hold the person's own keys and addresses. */
export const ownKeys: readonly string[] = ["directConnections", "toolServers", "notifications"];

/** The interface settings of each of these accounts, by account, without the person's own keys. */
export async function listShownSettings(
  db: AccountsDatabase,
  userIds: readonly string[],
): Promise<Map<string, ShownSettings>> {
  const ui = sql<Record<string, unknown>>`coalesce(settings -> 'ui', '{}'::jsonb) - ${ownKeys}::text[]`;
  const rows = await db
    .selectFrom("user")
    .select(["id", ui.as("ui")])
    .where(sql<boolean>`id = any(${[...userIds]}::text[]) and octet_length((${ui})::text) <= 65536`)
    .execute();
  return new Map(rows.map((row) => [row.id, { ui: row.ui }]));
}

/** Bytes that an account's interface settings, free-form info and valves of functions or tools may take as JSON. */
export const keptLimits = { ui: 1024 * 1024, info: 256 * 1024, valves: 1024 * 1024 } as const;

/** One of the things an account keeps for itself; undefined when there is no such account. */
export async function findKept(
  db: AccountsDatabase,
  id: string,
  column: "settings" | "info" | "variables",
): Promise<{ kept: unknown } | undefined> {
  const query = db.selectFrom("user").select((eb) => eb.ref(column).as("kept"));
  return await query.where("id", "=", id).executeTakeFirst();
}

/**
 * Applies a settings patch in one statement, so that two clients never undo each other's fields. Undefined when the
 * account is gone or has no room for it.
 */
export async function patchUiSettings(
  db: AccountsDatabase,
  id: string,
  patch: { set: Readonly<Record<string, unknown>>; clear: readonly string[] },
): Promise<unknown> {
  const kept = sql`(coalesce(settings -> 'ui', '{}'::jsonb) - ${[...patch.clear]}::text[])`;
  const ui = sql`(${kept} || ${toJson(patch.set)})`;
  const row = await db
    .updateTable("user")
    .set({
      settings: sql`coalesce(settings, '{}'::jsonb) || jsonb_build_object('ui', ${ui})`,
      updated_at: seconds(),
    })
    .where("id", "=", id)
    .where(takesAtMost(ui, keptLimits.ui, sql`settings -> 'ui'`))
    .returning("settings")
    .executeTakeFirst();
  return row?.settings;
}

/** Sets fields that the account has not; one that it has meanwhile stays. */
export async function giveUiSettings(
  db: AccountsDatabase,
  id: string,
  fields: Readonly<Record<string, unknown>>,
): Promise<unknown> {
  const ui = sql`${toJson(fields)} || coalesce(settings -> 'ui', '{}'::jsonb)`;
  const row = await db
    .updateTable("user")
    .set({ settings: sql`coalesce(settings, '{}'::jsonb) || jsonb_build_object('ui', ${ui})` })
    .where("id", "=", id)
    .returning("settings")
    .executeTakeFirst();
  return row?.settings;
}

/**
 * Merges keys into the free-form `info` of an account; resolves to the whole of it. Undefined when the account is gone
 * or has no room for it.
 */
export async function mergeInfo(
  db: AccountsDatabase,
  id: string,
  info: Record<string, unknown>,
): Promise<unknown> {
  const merged = sql<never>`(coalesce(info, '{}'::jsonb) || ${toJson(info)})`;
  const row = await db
    .updateTable("user")
    .set({ info: merged, updated_at: seconds() })
    .where("id", "=", id)
    .where(takesAtMost(merged, keptLimits.info, sql`info`))
    .returning("info")
    .executeTakeFirst();
  return row?.info;
}

/**
 * Asked in the statement that writes: many writes at once find no gap between a look and a change. What has more than
 * that already may change, but not grow.
 */
export function takesAtMost(json: RawBuilder<unknown>, bytes: number, before: RawBuilder<unknown>) {
  const size = sql`octet_length(${json}::text)`;
  return sql<boolean>`(${size} <= ${bytes} or ${size} <= octet_length((${before})::text))`;
}

function hasText(query: string | undefined): boolean {
  return query !== undefined && query.trim() !== "";
}

/** `%` and `_` in what a person typed are themselves. */
function toPattern(query: string): string {
  return `%${query.trim().replaceAll(/[\\%_]/g, String.raw`\$&`)}%`;
}
