import { sql } from "kysely";
import type { Principal } from "#kernel/access/principal.ts";
import { AppError } from "#kernel/errors.ts";
import { type ChatRow, findChat, lockChat, timesAfter } from "../chat-store.ts";
import { relinkFiles } from "../files/file-links.ts";
import { requireRow } from "../require-row.ts";
import { findChildren, toBatches } from "./message-store.ts";
import { announce, type ChatParts } from "../parts.ts";
import { mergeChat } from "./merge-chat.ts";
import { prepareChat } from "./prepare-chat.ts";
import type { ChatDatabase } from "../tables.ts";
import { withClearConflicts } from "../violations.ts";

export type MessageActions = ReturnType<typeof createMessageActions>;

/** What owners do with single messages. */
export function createMessageActions(parts: ChatParts) {
  const { db, transaction, chats, events } = parts;
  return {
    /**
     * Replaces what a message says. Throws `not_found`, and `conflict` while a run writes it, or where it says something
     * else than is expected: then `detail.content` is what it says.
     */
    async setContent(
      caller: Principal,
      place: { id: string; message_id: string },
      { content, expected }: { content: unknown; expected?: string | undefined },
    ): Promise<ChatRow> {
      const { id, message_id } = place;
      await chats.load(caller, id, "write");
      const sent = { history: { messages: { [message_id]: { content } } } };
      const prepared = await prepareChat(parts, caller, { sent, isNew: false });
      const row = await withClearConflicts(() =>
        transaction(async (tx) => {
          requireRow(await lockChat(tx, id));
          requireSaid(await requireIdle(tx, id, message_id), expected);
          return (await mergeChat(tx, id, prepared)).row;
        }),
      );
      announce(events, "message.updated", { by: caller, id, data: { message_id } });
      return row;
    },

    /** Deletes a message; what follows it follows the one before it, in its place. Throws like `setContent`. */
    async remove(
      caller: Principal,
      { id, message_id }: { id: string; message_id: string },
    ): Promise<ChatRow> {
      await chats.load(caller, id, "write");
      await withClearConflicts(() =>
        transaction(async (tx) => {
          const chat = requireRow(await lockChat(tx, id));
          const message = await requireIdle(tx, id, message_id);
          await removeMessage(tx, chat, { id: message_id, parent_id: message.parent_id });
          await tx.updateTable("chat").set(timesAfter(chat)).where("id", "=", id).execute();
        }),
      );
      announce(events, "message.deleted", { by: caller, id, data: { message_id } });
      return requireRow(await findChat(db, id));
    },
  };
}

async function requireIdle(tx: ChatDatabase, chatId: string, id: string) {
  const message = await tx
    .selectFrom("chat_message")
    .select(["parent_id", "run_id", "content"])
    .where("chat_id", "=", chatId)
    .where("id", "=", id)
    .executeTakeFirst();
  if (message === undefined) {
    throw new AppError("not_found", "Not found");
  }
  if (message.run_id !== null) {
    throw new AppError("conflict", "The message is being written. Stop the reply first.");
  }
  return message;
}

/** Throws `conflict` where somebody else changed the message since it was read. */
function requireSaid({ content }: { content: unknown }, expected: string | undefined): void {
  if (expected !== undefined && toText(content) !== expected) {
    throw new AppError("conflict", { message: "The message was changed meanwhile.", content });
  }
}

/** Content as text, as clients show it. */
function toText(content: unknown): string {
  if (Array.isArray(content)) {
    const texts = content.map((part: { text?: unknown } | null) => part?.text);
    return texts.filter((text) => typeof text === "string").join("\n");
  }
  return typeof content === "string" ? content : "";
}

async function removeMessage(
  tx: ChatDatabase,
  chat: ChatRow,
  { id, parent_id: parent }: { id: string; parent_id: string | null },
): Promise<void> {
  const around = await findChildren(tx, chat.id, [id, parent]);
  const heirs = around.filter(({ parent_id }) => parent_id === id);
  const siblings = around.filter(({ parent_id }) => parent_id === parent);
  const order = siblings.flatMap((one) => (one.id === id ? heirs : [one]));
  for (const batch of toBatches(order.map((one, position) => ({ id: one.id, position })))) {
    await sql`update chat_message as m set parent_id = ${parent}, position = p.position
      from jsonb_to_recordset(cast(${batch} as jsonb)) as p (id text, position int)
      where m.chat_id = ${chat.id} and m.id = p.id`.execute(tx);
  }
  await tx.deleteFrom("chat_message").where("chat_id", "=", chat.id).where("id", "=", id).execute();
  await relinkFiles(tx, chat.id, { messageIds: [id] });
  if (chat.current_message_id === id) {
    const current_message_id = heirs.at(-1)?.id ?? parent;
    await tx.updateTable("chat").set({ current_message_id }).where("id", "=", chat.id).execute();
  }
}
