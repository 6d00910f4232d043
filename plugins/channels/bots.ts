import type { Principal } from "#kernel/access/principal.ts";
import { toRoom } from "#kernel/sockets/rooms.ts";
import { anyOf } from "#storage/values.ts";
import { loadManaged } from "./channels.ts";
import { announce, type ChannelParts, emitToChannel, isManager, toAuthor, welcome } from "./parts.ts";
import { type ChannelRow, findChannel } from "./rows/channels.ts";
import { join, leave } from "./rows/members.ts";
import type { BotAccount, ChannelBots, ChannelFacts } from "./service.ts";

/** Creates the part of the service that apps join channels with. */
export function createChannelBots(parts: ChannelParts): ChannelBots {
  const { db, channels, hub } = parts;

  const tell = (event: "added" | "removed", by: Principal, channel: ChannelRow, bot: BotAccount) => {
    emitToChannel(hub, channel, {
      type: "channel:updated",
      data: { id: channel.id, name: channel.name },
      user: toAuthor(by),
    });
    announce(parts.events, `channel.member_${event}`, {
      by,
      id: channel.id,
      data: { user_id: bot.userId, name: bot.name, is_app: true },
    });
  };
  return {
    requireManager: async (caller, id) => toFacts(await loadManaged(parts, caller, id)),
    async requireReader(caller, id) {
      const channel = await channels.load(caller, id, "read");
      return { ...toFacts(channel), isManager: isManager(caller, channel) };
    },
    async add(caller, id, bot) {
      const channel = await loadManaged(parts, caller, id);
      const added = await join(db, id, { userIds: [bot.userId], invitedBy: caller.userId, bots: true });
      if (added.length === 0) {
        return false;
      }
      welcome(parts, id, bot.userId);
      tell("added", caller, channel, bot);
      return true;
    },
    async remove(caller, id, bot) {
      const channel = await loadManaged(parts, caller, id);
      if ((await leave(db, id, [bot.userId])).length === 0) {
        return false;
      }
      hub.leave(bot.userId, toRoom("channel", id));
      tell("removed", caller, channel, bot);
      return true;
    },
    async joined(id, botIds) {
      const rows = await db
        .selectFrom("channel_member")
        .select("user_id")
        .where("channel_id", "=", id)
        .where("user_id", "=", anyOf([...botIds]))
        .where("status", "=", "joined")
        .execute();
      return new Set(rows.map((row) => row.user_id));
    },
    async channelsOf(botId) {
      return await db
        .selectFrom("channel")
        .innerJoin("channel_member", "channel_member.channel_id", "channel.id")
        .select(["channel.id", "channel.name", "channel.type"])
        .where("channel_member.user_id", "=", botId)
        .where("channel_member.status", "=", "joined")
        .where("channel.archived_at", "is", null)
        .where("channel.deleted_at", "is", null)
        .orderBy("channel.name")
        .orderBy("channel.id")
        .execute();
    },
    async find(id) {
      const channel = await findChannel(db, id);
      return channel && toFacts(channel);
    },
  };
}

const toFacts = ({ id, name, type }: ChannelRow): ChannelFacts => ({ id, name, type });
