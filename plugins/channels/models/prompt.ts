import type { Message } from "#kernel/completion/request.ts";
import type { ChannelParts } from "../parts.ts";
import type { ChannelRow } from "../rows/channels.ts";
import { findMessage, listMessages, type MessageRow } from "../rows/messages.ts";
import { showMessages, type ShownMessage } from "../view.ts";
import { toPlainText } from "../messages/mentions.ts";

/** Messages of a thread, or before a message of the channel, that a model gets to read. */
const mostOfThread = 50;
const mostOfChannel = 20;
/** Pictures among them. */
const mostPictures = 10;

/** What a model is told that answers `message` in the thread of `parentId`, or in the channel with null. */
export async function toPrompt(
  parts: Pick<ChannelParts, "db" | "accounts">,
  {
    channel,
    message,
    parentId,
    modelName,
  }: {
    channel: ChannelRow;
    message: MessageRow;
    parentId: string | null;
    modelName: string;
  },
): Promise<Message[]> {
  const shown = await showMessages(parts, await readContext(parts, { channel, message, parentId }), {
    hidesData: true,
  });
  const transcript = shown.map(toLine).join("\n\n");
  const pictures = shown
    .flatMap(({ files }) => files)
    .filter(({ type, content_type: kind }) => type === "image" || kind?.startsWith("image/"))
    .slice(-mostPictures);
  const room = channel.type === "dm" ? "a direct conversation" : `the channel "${channel.name}"`;
  const system =
    `You are ${modelName}, taking part in ${room} with several people. Be concise and conversational. ` +
    "The messages so far are given with the names of their authors. Answer the last one, as yourself, without your name in front.";
  return [
    { role: "system", content: system },
    {
      role: "user",
      content:
        pictures.length === 0
          ? transcript
          : [
              { type: "text", text: transcript },
              ...pictures.map(({ id }) => ({
                type: "image_url",
                image_url: { url: `/api/v1/files/${id}/content` },
              })),
            ],
    },
  ];
}

/** Oldest first, up to the message that is answered. */
async function readContext(
  { db }: Pick<ChannelParts, "db">,
  { channel, message, parentId }: { channel: ChannelRow; message: MessageRow; parentId: string | null },
): Promise<MessageRow[]> {
  const page = (parent: string | null, limit: number) =>
    listMessages(db, { channelId: channel.id, parentId: parent }, { skip: 0, limit, before: message });
  if (parentId === null) {
    return [...(await page(null, mostOfChannel)).toReversed(), message];
  }
  if (parentId === message.id) {
    return [message];
  }
  const [parent, replies] = await Promise.all([
    findMessage(db, channel.id, parentId),
    page(parentId, mostOfThread),
  ]);
  return [...(parent ? [parent] : []), ...replies.toReversed(), message];
}

function toLine({ user, content, files }: ShownMessage): string {
  const names = files.map(({ name }) => name);
  const attached = names.length > 0 ? ` [attached: ${names.join(", ")}]` : "";
  return `${user.name}: ${toPlainText(content)}${attached}`;
}
