import { isMember } from "#kernel/access/principal.ts";
import { toPlainText } from "./messages/mentions.ts";
import type { ChannelParts } from "./parts.ts";
import { findChannel } from "./rows/channels.ts";
import { findMember, joinedIds } from "./rows/members.ts";
import type { ChannelReaders } from "./service.ts";

/** Accounts that one message reaches at most; a mention of more is somebody's trick. */
const mostMentioned = 100;

/** Finds the people whom messages reach. Rights are asked for now, so that nobody hears of a channel that is closed to them. */
export function createReaders({ db, accounts, channels, isOpen }: ChannelParts): ChannelReaders {
  const mayRead = async (userId: string, channelId: string) => {
    const person = await accounts.principalOf(userId);
    return (
      person !== undefined &&
      isMember(person) &&
      isOpen(person) &&
      (await channels.find(person, channelId, "read")) !== undefined
    );
  };
  const hasLeft = async (userId: string, channelId: string) =>
    (await findMember(db, channelId, userId))?.is_active === false;
  return {
    async audience(channelId, mentioned) {
      const channel = await findChannel(db, channelId);
      if (channel === undefined) {
        return [];
      }
      const wanted =
        channel.type === null
          ? [...new Set(mentioned)].slice(0, mostMentioned)
          : await joinedIds(db, channelId);
      const found: string[] = [];
      for (const userId of wanted) {
        if (!(await hasLeft(userId, channelId)) && (await mayRead(userId, channelId))) {
          found.push(userId);
        }
      }
      return found;
    },
    toPlainText,
  };
}
