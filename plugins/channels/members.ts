import type { Principal } from "#kernel/access/principal.ts";
import { AppError } from "#kernel/errors.ts";
import { toRoom } from "#kernel/sockets/rooms.ts";
import { loadManaged, resolvePeople } from "./channels.ts";
import { announce, type ChannelParts, emitListChange, welcome } from "./parts.ts";
import { type ChannelRow, findChannel } from "./rows/channels.ts";
import { hasJoined, join, leave, listMembers, markRead, setActive } from "./rows/members.ts";
import { channelRead } from "./service.ts";

export type MemberActions = ReturnType<typeof createMemberActions>;

/** A member of a channel (configuration document, Channel member). */
export function createMemberActions(parts: ChannelParts) {
  const { db, channels, events } = parts;

  return {
    /** Security case S39: id, name and picture, nothing else. */
    async list(
      caller: Principal,
      id: string,
      query: { page: number; query?: string | undefined; direction: "asc" | "desc" },
    ) {
      const channel = await channels.load(caller, id, "read");
      const { rows, total } = await listMembers(db, channel, { ...query, query: query.query });
      const users = rows.map((row) => ({
        id: row.id,
        name: row.name,
        profile_image_url: `/api/v1/users/${row.id}/profile/image`,
        ...(row.is_bot && { is_app: true as const }),
      }));
      return { users, total };
    },

    /**
     * Shows the channel in the caller's list, or hides it; the membership stays. A hidden group or direct channel is
     * closed to the caller until it is shown again. Throws `not_found` without a membership.
     */
    async setActive(caller: Principal, id: string, isActive: boolean): Promise<true> {
      const channel = await loadOwn(parts, caller, id);
      const change = { channelId: id, userId: caller.userId, isActive };
      if (!(await setActive(db, change))) {
        if (channel.type !== null) {
          throw new AppError("not_found", "You are not a member of this channel.");
        }
        // Standard channels are anybody's who may read them: the row is made with the first wish about it.
        await markRead(db, id, caller.userId);
        await setActive(db, change);
      }
      announce(events, "channel.member_active_updated", {
        by: caller,
        id,
        data: { user_id: caller.userId, is_active: isActive },
      });
      if (isActive) {
        welcome(parts, id, caller.userId);
      } else {
        exclude(parts, channel, caller.userId);
      }
      return true;
    },

    /** Resolves to the ids of those who were not in the channel before. */
    async add(
      caller: Principal,
      id: string,
      form: {
        user_ids?: readonly string[] | null | undefined;
        group_ids?: readonly string[] | null | undefined;
      },
    ): Promise<string[]> {
      const channel = await loadManaged(parts, caller, id);
      if (channel.type !== "group") {
        throw new AppError("invalid", "Who may read this channel is said by its access grants.");
      }
      const userIds = await resolvePeople(parts, caller, form);
      const added = await join(db, id, { userIds, invitedBy: caller.userId });
      added.forEach((userId) => {
        welcome(parts, id, userId);
        announce(events, "channel.member_added", { by: caller, id, data: { user_id: userId } });
      });
      return added;
    },

    /** Managers remove others, everybody themselves. Resolves to the ids of those who were there. */
    async remove(caller: Principal, id: string, userIds: readonly string[]): Promise<string[]> {
      const isSelf = userIds.every((userId) => userId === caller.userId);
      const channel = isSelf ? await loadOwn(parts, caller, id) : await loadManaged(parts, caller, id);
      if (channel.type === "dm") {
        throw new AppError("invalid", "Nobody leaves a direct channel; hide it instead.");
      }
      if (isSelf && channel.type === null) {
        await markRead(db, id, caller.userId);
      }
      const removed = await leave(db, id, userIds);
      removed.forEach((userId) => {
        exclude(parts, channel, userId);
        announce(events, "channel.member_removed", { by: caller, id, data: { user_id: userId } });
      });
      return removed;
    },
  };
}

/** The channel of a membership, hidden or not; any other as its reader. */
async function loadOwn({ db, channels }: ChannelParts, caller: Principal, id: string): Promise<ChannelRow> {
  const channel = await findChannel(db, id);
  return channel !== undefined && channel.type !== null && (await hasJoined(db, id, caller.userId))
    ? channel
    : await channels.load(caller, id, "read");
}

/** Takes an account's windows out of a channel that its membership opened. */
function exclude({ hub }: ChannelParts, { id, type }: ChannelRow, userId: string): void {
  if (type !== null) {
    hub.leave(userId, toRoom("channel", id));
  }
  emitListChange(hub, userId, id);
}

/** What people have read (channel member rule 5). */
export function createReadMarks({ db, channels, events, hub }: ChannelParts) {
  return {
    /** Notes that the caller has read the channel up to now, and tells the caller's other windows. */
    async mark(caller: Principal, id: string): Promise<void> {
      await channels.load(caller, id, "read");
      const at = await markRead(db, id, caller.userId);
      hub.emit(toRoom("user", caller.userId), "events:channel", {
        channel_id: id,
        message_id: null,
        data: { type: "last_read_at", data: { last_read_at: at } },
        user: null,
        channel: { id },
      });
      events.emit(channelRead, { userId: caller.userId, channelId: id });
    },
  };
}
