import { type Expression, type Selectable, sql, type SqlBool } from "kysely";
import type { Principal } from "#kernel/access/principal.ts";
import { nanoseconds } from "#storage/clock.ts";
import { granted } from "#storage/grants.ts";
import { anyOf } from "#storage/values.ts";
import { type Bag, type ChannelDatabase, type ChannelTable, resourceType } from "../tables.ts";

export type ChannelRow = Selectable<ChannelTable>;

export async function findChannel(db: ChannelDatabase, id: string): Promise<ChannelRow | undefined> {
  return await db
    .selectFrom("channel")
    .selectAll()
    .where("id", "=", id)
    .where("archived_at", "is", null)
    .where("deleted_at", "is", null)
    .executeTakeFirst();
}

export async function findDirect(db: ChannelDatabase, people: string): Promise<ChannelRow | undefined> {
  return await db.selectFrom("channel").selectAll().where("people", "=", people).executeTakeFirst();
}

export async function insertChannel(
  db: ChannelDatabase,
  row: Pick<
    ChannelRow,
    "id" | "user_id" | "type" | "name" | "description" | "is_private" | "data" | "meta" | "people"
  >,
): Promise<ChannelRow | undefined> {
  const now = nanoseconds();
  return await db
    .insertInto("channel")
    .values({
      ...row,
      created_at: now,
      updated_at: now,
    })
    .onConflict((conflict) => conflict.column("people").doNothing())
    .returningAll()
    .executeTakeFirst();
}

/** What is undefined stays as it is. */
export interface ChannelChange {
  readonly name?: string | undefined;
  readonly description?: string | null | undefined;
  readonly is_private?: boolean | null | undefined;
  readonly data?: Bag | null | undefined;
  readonly meta?: Bag | null | undefined;
}

export async function updateChannel(
  db: ChannelDatabase,
  id: string,
  change: ChannelChange,
): Promise<ChannelRow | undefined> {
  return await db
    .updateTable("channel")
    .set({
      ...Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined)),
      updated_at: nanoseconds(),
    })
    .where("id", "=", id)
    .returningAll()
    .executeTakeFirst();
}

export async function deleteChannel(db: ChannelDatabase, id: string): Promise<void> {
  await db.deleteFrom("channel").where("id", "=", id).execute();
}

export async function existingChannels(db: ChannelDatabase, ids: readonly string[]): Promise<Set<string>> {
  const rows = await db.selectFrom("channel").select("id").where("id", "=", anyOf(ids)).execute();
  return new Set(rows.map(({ id }) => id));
}

/**
 * True in SQL where a standard channel is open to the caller, or the caller joined a group or direct one; for an app
 * where it was added.
 */
function isVisible(caller: Principal, passes: boolean): Expression<SqlBool> {
  if (caller.app !== undefined) {
    return sql<SqlBool>`channel.archived_at is null and channel.deleted_at is null
      and coalesce(own.status = 'joined', false)`;
  }
  const standard = passes
    ? sql<SqlBool>`true`
    : sql<SqlBool>`(channel.user_id = ${caller.userId} or ${granted(
        { ref: () => sql.ref("channel.id") },
        resourceType,
        "channel.id",
        caller,
        "read",
      )})`;
  return sql<SqlBool>`channel.archived_at is null and channel.deleted_at is null and case
    when channel.type is null then ${standard} else coalesce(own.status = 'joined', false) end`;
}

/** Unread messages are counted up to this number. */
export const mostUnread = 100;

/** The caller's channels as lists show them. Hidden ones are those whose membership is not active. */
export async function listVisible(
  db: ChannelDatabase,
  caller: Principal,
  { passes, hidden }: { passes: boolean; hidden: boolean },
) {
  return await db
    .selectFrom("channel")
    .leftJoin("channel_member as own", (join) =>
      join.onRef("own.channel_id", "=", "channel.id").on("own.user_id", "=", caller.userId),
    )
    .selectAll("channel")
    .select(["own.last_read_at", "own.is_active"])
    .select(
      sql<number>`case when own.id is null then 0 else (select count(*) from (
        select 1 from message where message.channel_id = channel.id and message.parent_id is null
          and message.created_at > coalesce(own.last_read_at, 0)
          and message.user_id is distinct from ${caller.userId}
        limit ${mostUnread}) as unread) end`.as("unread_count"),
    )
    .select(
      sql<
        bigint | number | null
      >`(select max(message.created_at) from message where message.channel_id = channel.id and message.parent_id is null)`.as(
        "last_message_at",
      ),
    )
    .where(isVisible(caller, passes))
    .$if(!hidden, (query) =>
      query.where((eb) => eb.or([eb("own.id", "is", null), eb("own.is_active", "=", true)])),
    )
    .orderBy("channel.name")
    .orderBy("channel.id")
    .execute();
}

/** Ids of all channels that the caller may read now. */
export async function visibleIds(db: ChannelDatabase, caller: Principal, passes: boolean): Promise<string[]> {
  const rows = await db
    .selectFrom("channel")
    .leftJoin("channel_member as own", (join) =>
      join.onRef("own.channel_id", "=", "channel.id").on("own.user_id", "=", caller.userId),
    )
    .select("channel.id")
    .where(isVisible(caller, passes))
    .where((eb) => eb.or([eb("channel.type", "is", null), eb("own.is_active", "=", true)]))
    .limit(900)
    .execute();
  return rows.map(({ id }) => id);
}
