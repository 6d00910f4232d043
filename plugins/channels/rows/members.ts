import { randomUUID } from "node:crypto";
import { type Selectable, sql, type SqlBool } from "kysely";
import { nanoseconds } from "#storage/clock.ts";
import { anyOf } from "#storage/values.ts";
import { type ChannelDatabase, type MemberTable, resourceType } from "../tables.ts";
import type { ChannelRow } from "./channels.ts";

export type MemberRow = Selectable<MemberTable>;

export async function findMember(
  db: ChannelDatabase,
  channelId: string,
  userId: string,
): Promise<MemberRow | undefined> {
  return await db
    .selectFrom("channel_member")
    .selectAll()
    .where("channel_id", "=", channelId)
    .where("user_id", "=", userId)
    .executeTakeFirst();
}

export async function hasJoined(db: ChannelDatabase, channelId: string, userId: string): Promise<boolean> {
  const row = await findMember(db, channelId, userId);
  return row?.status === "joined";
}

/** Channel member rule 2: a membership that is not active gives no right to read or write. */
export async function isActiveMember(
  db: ChannelDatabase,
  channelId: string,
  userId: string,
): Promise<boolean> {
  const row = await findMember(db, channelId, userId);
  return row?.status === "joined" && row.is_active;
}

/** Lets accounts join, also those who left; resolves to those for whom that is new. Accounts that are gone are left out, and without `bots` those of apps. */
export async function join(
  db: ChannelDatabase,
  channelId: string,
  {
    userIds,
    invitedBy,
    bots = false,
  }: { userIds: readonly string[]; invitedBy: string | null; bots?: boolean },
): Promise<string[]> {
  const known = await db
    .selectFrom("user")
    .select("id")
    .where("id", "=", anyOf(userIds))
    .where("is_bot", "=", bots)
    .execute();
  if (known.length === 0) {
    return [];
  }
  const now = nanoseconds();
  const rows = await db
    .insertInto("channel_member")
    .values(
      known.map(({ id }) => ({
        id: randomUUID(),
        channel_id: channelId,
        user_id: id,
        status: "joined" as const,
        invited_at: invitedBy === null || invitedBy === id ? null : now,
        invited_by: invitedBy === id ? null : invitedBy,
        joined_at: now,
        left_at: null,
        last_read_at: now,
        created_at: now,
        updated_at: now,
      })),
    )
    .onConflict((conflict) =>
      conflict
        .columns(["channel_id", "user_id"])
        .doUpdateSet({
          status: "joined",
          is_active: true,
          left_at: null,
          joined_at: now,
          last_read_at: now,
          updated_at: now,
        })
        .where("channel_member.status", "=", "left"),
    )
    .returning("user_id")
    .execute();
  return rows.map((row) => row.user_id);
}

/** Channel member rule 1: the row remains. Resolves to those who had joined. */
export async function leave(
  db: ChannelDatabase,
  channelId: string,
  userIds: readonly string[],
): Promise<string[]> {
  const now = nanoseconds();
  const rows = await db
    .updateTable("channel_member")
    .set({ status: "left", is_active: false, left_at: now, updated_at: now })
    .where("channel_id", "=", channelId)
    .where("user_id", "=", anyOf(userIds))
    .where("status", "=", "joined")
    .returning("user_id")
    .execute();
  return rows.map((row) => row.user_id);
}

/** Resolves to false for somebody who has not joined. */
export async function setActive(
  db: ChannelDatabase,
  { channelId, userId, isActive }: { channelId: string; userId: string; isActive: boolean },
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable("channel_member")
    .set({ is_active: isActive, updated_at: nanoseconds() })
    .where("channel_id", "=", channelId)
    .where("user_id", "=", userId)
    .where("status", "=", "joined")
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** A direct channel that somebody hid comes back with the next message. */
export async function reviveDirect(db: ChannelDatabase, channelId: string): Promise<string[]> {
  const rows = await db
    .updateTable("channel_member")
    .set({ is_active: true, updated_at: nanoseconds() })
    .where("channel_id", "=", channelId)
    .where("status", "=", "joined")
    .where("is_active", "=", false)
    .returning("user_id")
    .execute();
  return rows.map((row) => row.user_id);
}

/** Channel member rule 5; whoever reads a standard channel for the first time becomes its member. */
export async function markRead(db: ChannelDatabase, channelId: string, userId: string): Promise<bigint> {
  const now = nanoseconds();
  await join(db, channelId, { userIds: [userId], invitedBy: null });
  await db
    .updateTable("channel_member")
    .set({ last_read_at: now })
    .where("channel_id", "=", channelId)
    .where("user_id", "=", userId)
    .execute();
  return now;
}

export async function joinedIds(db: ChannelDatabase, channelId: string): Promise<string[]> {
  const rows = await db
    .selectFrom("channel_member")
    .select("user_id")
    .where("channel_id", "=", channelId)
    .where("status", "=", "joined")
    .execute();
  return rows.map((row) => row.user_id);
}

export const memberPage = 30;

/**
 * Channel member rule 2: active memberships of accounts that exist. Everybody who may read a standard channel counts as
 * its member until they leave it.
 */
function belongsTo({ id, type, user_id: creator }: Pick<ChannelRow, "id" | "type" | "user_id">) {
  const own = sql`select 1 from channel_member as held where held.channel_id = ${id} and held.user_id = "user".id`;
  const joined = sql<SqlBool>`exists (${own} and held.is_active)`;
  if (type !== null) {
    return joined;
  }
  return sql<SqlBool>`(${joined} or (not exists (${own} and not held.is_active) and "user".role <> 'pending' and not "user".is_bot and (
    "user".id = ${creator} or exists (select 1 from access_grant as given
      where given.resource_type = ${resourceType} and given.resource_id = ${id} and (
        (given.principal_type = 'user' and given.principal_id in ("user".id, '*'))
        or (given.principal_type = 'group' and exists (select 1 from group_member
          where group_member.group_id = given.principal_id and group_member.user_id = "user".id)))))))`;
}

/** One page of the members, by name. */
export async function listMembers(
  db: ChannelDatabase,
  channel: Pick<ChannelRow, "id" | "type" | "user_id">,
  { page, query, direction }: { page: number; query: string | undefined; direction: "asc" | "desc" },
) {
  const pattern = `%${(query ?? "").toLowerCase().replaceAll(/[\\%_]/g, "\\$&")}%`;
  const chosen = db
    .selectFrom("user")
    .where(belongsTo(channel))
    .$if(Boolean(query), (rows) => rows.where(sql`lower("user".name)`, "like", pattern));
  const { total } = await chosen
    .select((eb) => eb.fn.countAll<number>().as("total"))
    .executeTakeFirstOrThrow();
  const rows = await chosen
    .select(["user.id", "user.name", "user.is_bot"])
    .orderBy(sql`lower("user".name)`, direction)
    .orderBy("user.id")
    .limit(memberPage)
    .offset((page - 1) * memberPage)
    .execute();
  return { rows, total: Number(total) };
}

export async function countMembers(
  db: ChannelDatabase,
  channel: Pick<ChannelRow, "id" | "type" | "user_id">,
): Promise<number> {
  const { total } = await db
    .selectFrom("user")
    .where(belongsTo(channel))
    .select((eb) => eb.fn.countAll<number>().as("total"))
    .executeTakeFirstOrThrow();
  return Number(total);
}

/** The people of direct channels, by channel. */
export async function peopleOf(
  db: ChannelDatabase,
  channelIds: readonly string[],
): Promise<Map<string, { id: string; name: string }[]>> {
  const rows = await db
    .selectFrom("channel_member")
    .innerJoin("user", "user.id", "channel_member.user_id")
    .select(["channel_member.channel_id", "user.id", "user.name"])
    .where("channel_member.channel_id", "=", anyOf(channelIds))
    .orderBy("channel_member.joined_at")
    .execute();
  const found = new Map<string, { id: string; name: string }[]>();
  for (const { channel_id: channelId, ...person } of rows) {
    found.set(channelId, [...(found.get(channelId) ?? []), person]);
  }
  return found;
}
