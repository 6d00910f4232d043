import { createHash, randomUUID } from "node:crypto";
import type { Principal } from "#kernel/access/principal.ts";
import { AppError } from "#kernel/errors.ts";
import { toRoom } from "#kernel/sockets/rooms.ts";
import { anyOf } from "#storage/values.ts";
import type { GrantInput } from "#storage/grants.ts";
import { createChannelView } from "./channel-view.ts";
import {
  announce,
  type ChannelParts,
  emitToChannel,
  isManager,
  resourceType,
  welcome,
  toAuthor,
} from "./parts.ts";
import {
  type ChannelChange,
  type ChannelRow,
  deleteChannel,
  findDirect,
  insertChannel,
  updateChannel,
} from "./rows/channels.ts";
import { isActiveMember, join, joinedIds, setActive } from "./rows/members.ts";
import type { Bag } from "./tables.ts";

type Ids = readonly string[] | null | undefined;

export interface NewChannel {
  readonly name: string;
  readonly type?: "group" | "dm" | null | undefined;
  readonly description?: string | null | undefined;
  readonly is_private?: boolean | null | undefined;
  readonly data?: Bag | null | undefined;
  readonly meta?: Bag | null | undefined;
  readonly access_grants?: readonly GrantInput[] | null | undefined;
  readonly user_ids?: Ids;
  readonly group_ids?: Ids;
}

export interface ChannelForm extends ChannelChange {
  readonly access_grants?: readonly GrantInput[] | null | undefined;
}

/** People whom one direct channel joins. */
const mostPeople = 50;

/** The channel, for what only managers may do. Throws `not_found` or `forbidden`. */
export async function loadManaged(
  { channels }: Pick<ChannelParts, "channels">,
  caller: Principal,
  id: string,
): Promise<ChannelRow> {
  const channel = await channels.load(caller, id, "read");
  if (!isManager(caller, channel)) {
    throw new AppError(
      "forbidden",
      channel.type === "dm"
        ? "A direct channel has no manager."
        : "Only the creator of the channel and administrators may do this.",
    );
  }
  return channel;
}

export type ChannelActions = ReturnType<typeof createChannelActions>;

/** Actions on whole channels (contract §8). */
export function createChannelActions(parts: ChannelParts) {
  const { channels, events, grants, hub, transaction, db } = parts;
  const { list, show } = createChannelView(parts);

  return {
    list,
    get: async (caller: Principal, id: string) => await show(caller, await channels.load(caller, id, "read")),

    /** The direct channel with one other person, made where there is none. */
    async direct(caller: Principal, userId: string) {
      return await show(caller, await openDirect(parts, caller, [userId]));
    },

    /** Throws `forbidden` for a standard channel of somebody who is no administrator. */
    async create(caller: Principal, form: NewChannel) {
      const type = form.type ?? null;
      if (type === "dm") {
        return await show(caller, await openDirect(parts, caller, form.user_ids ?? []));
      }
      if (form.name === "") {
        throw new AppError("invalid", "name: a channel needs a name.");
      }
      if (type === null && caller.role !== "admin") {
        throw new AppError("forbidden", "Only administrators may make channels for everybody; make a group.");
      }
      const { row, people } = await insertWithPeople(parts, caller, { ...form, type });
      if (type === null && form.access_grants) {
        await setGrants(parts, caller, row.id, form.access_grants);
      }
      [caller.userId, ...people].forEach((id) => welcome(parts, row.id, id));
      announce(events, "channel.created", { by: caller, id: row.id, data: { name: row.name, type } });
      return await show(caller, row);
    },

    async update(caller: Principal, id: string, { access_grants: wanted, ...form }: ChannelForm) {
      const before = await loadManaged(parts, caller, id);
      if (wanted && before.type !== null) {
        throw new AppError(
          "invalid",
          "access_grants: this channel belongs to its members; add or remove them.",
        );
      }
      const row = await updateChannel(db, id, form);
      if (row === undefined) {
        throw new AppError("not_found", "Not found");
      }
      if (wanted) {
        await setGrants(parts, caller, id, wanted);
      }
      announce(events, "channel.updated", { by: caller, id, data: { name: row.name } });
      emitToChannel(hub, row, {
        type: "channel:updated",
        data: { id, name: row.name },
        user: toAuthor(caller),
      });
      return await show(caller, row);
    },

    /** Removes the row and all that belongs to it. */
    async remove(caller: Principal, id: string): Promise<void> {
      const channel = await loadManaged(parts, caller, id);
      const members = await joinedIds(db, id);
      emitToChannel(hub, channel, { type: "channel:deleted", data: { id }, user: toAuthor(caller) });
      await transaction(async (tx) => {
        await deleteChannel(tx, id);
        await grants.forget(tx, resourceType, [id]);
      });
      members.forEach((userId) => hub.leave(userId, toRoom("channel", id)));
      announce(events, "channel.deleted", { by: caller, id, data: { name: channel.name } });
    },
  };
}

/** The accounts that `user_ids` and `group_ids` name. Throws `not_found` for groups that are not the caller's. */
export async function resolvePeople(
  { db }: Pick<ChannelParts, "db">,
  caller: Principal,
  { user_ids: userIds, group_ids: groupIds }: { user_ids?: Ids; group_ids?: Ids },
): Promise<string[]> {
  const groups = groupIds ?? [];
  if (caller.role !== "admin" && groups.some((id) => !caller.groupIds.includes(id))) {
    throw new AppError("not_found", "Group not found");
  }
  const rows =
    groups.length === 0
      ? []
      : await db.selectFrom("group_member").select("user_id").where("group_id", "=", anyOf(groups)).execute();
  return [...new Set([...(userIds ?? []), ...rows.map((row) => row.user_id)])];
}

/** A channel with its first members. */
async function insertWithPeople(
  parts: ChannelParts,
  caller: Principal,
  form: NewChannel & { type: "group" | null },
): Promise<{ row: ChannelRow; people: string[] }> {
  const { type } = form;
  const people = type === "group" ? await resolvePeople(parts, caller, form) : [];
  const row = await parts.transaction(async (tx) => {
    const made = await insertChannel(tx, {
      id: randomUUID(),
      user_id: caller.userId,
      type,
      name: form.name,
      description: form.description ?? null,
      is_private: form.is_private ?? null,
      data: form.data ?? null,
      meta: form.meta ?? null,
      people: null,
    });
    const channel = made as ChannelRow;
    const userIds = [...new Set([caller.userId, ...people])];
    await join(tx, channel.id, { userIds, invitedBy: caller.userId });
    return channel;
  });
  return { row, people };
}

/** The one direct channel of these people, made where there is none. */
async function openDirect(
  parts: ChannelParts,
  caller: Principal,
  others: readonly string[],
): Promise<ChannelRow> {
  const { db, transaction, accounts, events } = parts;
  const wanted = [...new Set([caller.userId, ...others])].toSorted();
  if (wanted.length > mostPeople) {
    throw new AppError("invalid", `user_ids: a direct channel joins at most ${mostPeople} people.`);
  }
  const known = await accounts.summaries(wanted);
  if (wanted.some((id) => !known.has(id) || /^(pending|app)$/.test(known.get(id)?.role ?? ""))) {
    throw new AppError("not_found", "User not found");
  }
  const people = createHash("sha256").update(wanted.join(" ")).digest("base64url");
  const made = await transaction(async (tx) => {
    const row = await insertChannel(tx, {
      id: randomUUID(),
      user_id: caller.userId,
      type: "dm",
      name: "",
      description: null,
      is_private: null,
      data: null,
      meta: null,
      people,
    });
    if (row !== undefined) {
      await join(tx, row.id, { userIds: wanted, invitedBy: caller.userId });
    }
    return row;
  });
  if (made !== undefined) {
    wanted.forEach((id) => welcome(parts, made.id, id));
    announce(events, "channel.created", { by: caller, id: made.id, data: { type: "dm" } });
  }
  return made ?? (await reopenDirect(parts, caller, (await findDirect(db, people)) as ChannelRow));
}

/** Shows a direct channel again to the caller who hid it. */
async function reopenDirect(
  parts: ChannelParts,
  { userId }: Principal,
  channel: ChannelRow,
): Promise<ChannelRow> {
  if (!(await isActiveMember(parts.db, channel.id, userId))) {
    await setActive(parts.db, { channelId: channel.id, userId, isActive: true });
    welcome(parts, channel.id, userId);
  }
  return channel;
}

async function setGrants(
  { grants, accounts, transaction }: ChannelParts,
  caller: Principal,
  id: string,
  wanted: readonly GrantInput[],
): Promise<void> {
  const held = await grants.list(resourceType, [id]);
  const given = await accounts.givenGrants(caller, { wanted, held, everybody: "sharing.public_channels" });
  await transaction((tx) => grants.replace(tx, resourceType, id, given));
}
