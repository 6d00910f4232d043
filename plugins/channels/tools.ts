import type { Principal } from "#kernel/access/principal.ts";
import { AppError } from "#kernel/errors.ts";
import { defineTool, type Tool } from "#kernel/tools/tool.ts";
import { toPlainText } from "./messages/mentions.ts";
import type { ChannelParts } from "./parts.ts";
import { listVisible } from "./rows/channels.ts";
import { findMessage, listMessages, type MessageRow, searchMessages } from "./rows/messages.ts";
import { showMessages } from "./view.ts";

const mostFound = 20;
const mostOfThread = 100;

const text = (description: string) => ({ type: "string", description });
const count = {
  type: "integer",
  minimum: 1,
  maximum: mostFound,
  description: "Most results; 10 when left out",
};

/** Contract §3.6, category `channels`. */
const common = {
  category: "channels",
  permission: "features.channels",
} as const satisfies Partial<Tool>;

/** What tools read of channels: only what their person may read. */
function createToolReader(parts: ChannelParts) {
  const { db, access, channels } = parts;
  const visible = async (principal: Principal) => {
    if (!parts.isOpen(principal)) {
      throw new AppError("forbidden", "Channels are switched off.");
    }
    return await listVisible(db, principal, { passes: access.passes(principal), hidden: true });
  };
  const show = async (rows: readonly MessageRow[]) =>
    (await showMessages(parts, rows, { hidesData: true })).map((row) => ({
      id: row.id,
      channel_id: row.channel_id,
      parent_id: row.parent_id,
      author: row.user.name,
      content: toPlainText(row.content).slice(0, 20_000),
      created_at: new Date(Number(row.created_at / 1_000_000n)).toISOString(),
      reply_count: row.reply_count,
      ...(row.files.length > 0 && { files: row.files.map(({ name }) => name) }),
    }));
  const load = async (principal: Principal, id: unknown): Promise<MessageRow> => {
    const row = await db.selectFrom("message").selectAll().where("id", "=", String(id)).executeTakeFirst();
    // A message of a channel that the caller may not read is an unknown one.
    const channel =
      parts.isOpen(principal) && row ? await channels.find(principal, row.channel_id, "read") : undefined;
    if (row === undefined || channel === undefined) {
      throw new AppError("not_found", "There is no such message.");
    }
    return row;
  };
  return { visible, show, load };
}

type ToolReader = ReturnType<typeof createToolReader>;

/** Built-in tools over channels that the caller may read (contract §3.6). */
export function createChannelTools(parts: ChannelParts): readonly Tool[] {
  const reader = createToolReader(parts);
  return [...searchTools(parts, reader), ...viewTools(parts, reader)];
}

function searchTools({ db }: ChannelParts, { visible, show }: ToolReader): Tool[] {
  return [
    defineTool({
      ...common,
      id: "channels.search_channels",
      title: "Search channels",
      spec: {
        name: "search_channels",
        description: "Finds channels of the user by a part of their name or description.",
        parameters: {
          type: "object",
          properties: { query: text("Part of the name or description; empty for all"), count },
          required: ["query"],
        },
      },
      async run({ query, count: wanted }, { principal }) {
        const part = String(query).toLowerCase();
        const rows = (await visible(principal)).filter(
          ({ name, description }) => name.includes(part) || (description ?? "").toLowerCase().includes(part),
        );
        return rows
          .slice(0, toCount(wanted))
          .map(({ id, name, description, type }) => ({ id, name, description, type: type ?? "standard" }));
      },
    }),
    defineTool({
      ...common,
      id: "channels.search_channel_messages",
      title: "Search messages of channels",
      spec: {
        name: "search_channel_messages",
        description: "Finds messages in the user's channels by the words they hold, newest first.",
        parameters: {
          type: "object",
          properties: {
            query: text("Words, or their beginnings"),
            channel_id: text("Searches this channel alone"),
            count,
          },
          required: ["query"],
        },
      },
      async run({ query, channel_id: channelId, count: wanted }, { principal }) {
        const ids = (await visible(principal)).map(({ id }) => id);
        const among = channelId === undefined ? ids : ids.filter((id) => id === channelId);
        return await show(await searchMessages(db, among, { query: String(query), limit: toCount(wanted) }));
      },
    }),
  ];
}

function viewTools({ db }: ChannelParts, { show, load }: ToolReader): Tool[] {
  return [
    defineTool({
      ...common,
      id: "channels.view_channel_message",
      title: "Read a message",
      spec: {
        name: "view_channel_message",
        description: "Reads one message of a channel.",
        parameters: {
          type: "object",
          properties: { message_id: text("Id of the message") },
          required: ["message_id"],
        },
      },
      run: async ({ message_id: id }, { principal }) => (await show([await load(principal, id)]))[0],
    }),
    defineTool({
      ...common,
      id: "channels.view_channel_thread",
      title: "Read a thread",
      spec: {
        name: "view_channel_thread",
        description: "Reads the thread that a message belongs to: its first message and the latest replies.",
        parameters: {
          type: "object",
          properties: { message_id: text("Id of any message of the thread") },
          required: ["message_id"],
        },
      },
      async run({ message_id: id }, { principal }) {
        const row = await load(principal, id);
        const { channel_id: channelId } = row;
        const first = row.parent_id === null ? row : await findMessage(db, channelId, row.parent_id);
        const parentId = row.parent_id ?? row.id;
        const replies = await listMessages(db, { channelId, parentId }, { skip: 0, limit: mostOfThread });
        return await show([...(first ? [first] : []), ...replies.toReversed()]);
      },
    }),
  ];
}

function toCount(value: unknown): number {
  const wanted = Number(value ?? 10);
  return Number.isInteger(wanted) ? Math.min(Math.max(wanted, 1), mostFound) : 10;
}
