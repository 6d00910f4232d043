import type { Principal } from "#kernel/access/principal.ts";
import { announce, type ChannelParts, emitToChannel, type EventAuthor, toAuthor, welcome } from "../parts.ts";
import type { ChannelRow } from "../rows/channels.ts";
import { reviveDirect } from "../rows/members.ts";
import {
  findMessage,
  insertMessage,
  linkFiles,
  type MessageRow,
  type NewMessage as NewRow,
} from "../rows/messages.ts";
import { showMessage, type ShownMessage } from "../view.ts";
import { readMentions } from "./mentions.ts";

/** Stores a message with its files. */
export async function storeMessage(
  { transaction }: Pick<ChannelParts, "transaction">,
  { message, fileIds = [] }: { message: NewRow; fileIds?: readonly string[] },
): Promise<MessageRow> {
  return await transaction(async (tx) => {
    const row = await insertMessage(tx, message);
    const place = { userId: message.user_id ?? "", channelId: message.channel_id, messageId: message.id };
    await linkFiles(tx, place, fileIds);
    return row;
  });
}

export interface Post {
  readonly channel: ChannelRow;
  readonly message: MessageRow;
  readonly by: Principal | null;
  readonly tempId?: string | null;
}

/** Tells the channel of a new message, its thread's first message, and the process. */
export async function announcePost(parts: ChannelParts, post: Post): Promise<ShownMessage> {
  const shown = await emitPost(parts, post);
  announceMessage(parts, post, shown);
  return shown;
}

/** Shows a new message to everybody who has the channel open. */
export async function emitPost(parts: ChannelParts, post: Post): Promise<ShownMessage> {
  const { channel, message, by } = post;
  const { db, hub } = parts;
  if (channel.type === "dm") {
    (await reviveDirect(db, channel.id)).forEach((userId) => welcome(parts, channel.id, userId));
  }
  const shown = await showMessage(parts, message);
  const user = by ? toAuthor(by) : { id: shown.user.id, name: shown.user.name, role: "webhook" };
  emitToChannel(hub, channel, {
    type: "message",
    data: { ...shown, temp_id: post.tempId ?? null },
    messageId: message.id,
    user,
  });
  await tellParent(parts, channel, message.parent_id, user);
  return shown;
}

/** Tells the process of a message whose words are all there, so that people who are away hear of it. */
export function announceMessage(
  { events }: Pick<ChannelParts, "events">,
  { channel, message, by }: Post,
  shown: ShownMessage,
): void {
  announce(events, "channel.message", {
    by,
    id: channel.id,
    data: {
      channel: { id: channel.id, name: channel.name, type: channel.type },
      message: toFacts(message),
      author: shown.user,
      mentions: readMentions(message.content),
    },
  });
  announce(events, "message.created", {
    by,
    id: message.id,
    data: { channel_id: channel.id, message: toFacts(message), author: shown.user },
  });
}

/** The part of a message that events carry. */
export function toFacts({ id, parent_id, reply_to_id, content, meta }: MessageRow) {
  return { id, parent_id, reply_to_id, content, meta };
}

/** The first message of a thread shows how many replies there are. */
export async function tellParent(
  parts: ChannelParts,
  channel: ChannelRow,
  parentId: string | null,
  user: EventAuthor,
): Promise<void> {
  const parent = parentId === null ? undefined : await findMessage(parts.db, channel.id, parentId);
  if (parent !== undefined) {
    const data = await showMessage(parts, parent);
    emitToChannel(parts.hub, channel, { type: "message:reply", data, messageId: parent.id, user });
  }
}
