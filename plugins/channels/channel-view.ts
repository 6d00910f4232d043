import type { Principal } from "#kernel/access/principal.ts";
import type { GrantRow } from "#storage/grants.ts";
import { type ChannelParts, resourceType, isManager } from "./parts.ts";
import { type ChannelRow, listVisible, mostUnread } from "./rows/channels.ts";
import { countMembers, findMember, peopleOf } from "./rows/members.ts";
import type { Bag } from "./tables.ts";

export type ChannelView = ReturnType<typeof createChannelView>;

/** Channels as people see them (contract §8). */
export function createChannelView(parts: ChannelParts) {
  const { db, access, channels, grants } = parts;

  async function list(caller: Principal, hidden: boolean) {
    const rows = await listVisible(db, caller, { passes: access.passes(caller), hidden });
    const [writable, people] = await Promise.all([
      grants.allowed(
        caller,
        "write",
        resourceType,
        rows.map(({ id }) => id),
      ),
      peopleOf(
        db,
        rows.filter(({ type }) => type === "dm").map(({ id }) => id),
      ),
    ]);
    return rows.map(({ people: _people, is_active: _active, ...row }) => ({
      ...row,
      unread_count: Number(row.unread_count),
      is_manager: isManager(caller, row),
      write_access:
        row.type !== null || row.user_id === caller.userId || access.passes(caller) || writable.has(row.id),
      ...(row.type === "dm" && { users: people.get(row.id) ?? [] }),
    }));
  }

  async function show(caller: Principal, channel: ChannelRow) {
    const { people: _people, ...row } = channel;
    const [own, count, held, people, mayWrite] = await Promise.all([
      findMember(db, row.id, caller.userId),
      countMembers(db, row),
      grants.list(resourceType, [row.id]),
      row.type === "dm" ? peopleOf(db, [row.id]) : undefined,
      channels.find(caller, row.id, "write"),
    ]);
    const listed = own?.last_read_at ?? null;
    const { unread, latest } = await countUnread(parts, caller, { id: row.id, since: listed });
    return {
      ...row,
      is_manager: isManager(caller, row),
      write_access: mayWrite !== undefined,
      user_count: count,
      unread_count: own === undefined ? 0 : unread,
      last_read_at: listed,
      last_message_at: latest,
      ...(people && { users: people.get(row.id) ?? [] }),
      ...(isManager(caller, row) && { access_grants: held as (GrantRow & Bag)[] }),
    };
  }

  return { list, show };
}

async function countUnread(
  { db }: Pick<ChannelParts, "db">,
  caller: Principal,
  { id, since }: { id: string; since: bigint | null },
): Promise<{ unread: number; latest: bigint | null }> {
  const top = db.selectFrom("message").where("channel_id", "=", id).where("parent_id", "is", null);
  const [newest, rows] = await Promise.all([
    top.select("created_at").orderBy("created_at", "desc").limit(1).executeTakeFirst(),
    top
      .select("id")
      .where("created_at", ">", since ?? 0n)
      .where((eb) => eb.or([eb("user_id", "is", null), eb("user_id", "<>", caller.userId)]))
      .limit(mostUnread)
      .execute(),
  ]);
  return { unread: rows.length, latest: newest?.created_at ?? null };
}
