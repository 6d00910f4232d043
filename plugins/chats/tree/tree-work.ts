import { AppError } from "#kernel/errors.ts";
import { anyOf } from "#storage/values.ts";
import type { ChatRow } from "../chat-store.ts";
import type { ChatActions } from "../chats.ts";
import { readBranch } from "../reading/read-branch.ts";
import type { SentChat } from "../schema.ts";
import type { AppendedMessage, ChatFacts, Chats } from "../service.ts";
import type { ChatDatabase } from "../tables.ts";

interface Options {
  readonly db: ChatDatabase;
  readonly actions: Pick<ChatActions, "create" | "change">;
}

/** Makes chats and changes their trees for other plugins, by the rules that hold for callers. */
export function createTreeWork({
  db,
  actions,
}: Options): Pick<Chats, "create" | "places" | "link" | "rewrite" | "message"> {
  return {
    async create(owner, { id, messages, folderId, variables, meta, ...chat }) {
      const row = await actions.create(
        owner,
        {
          ...toSentChat(messages, messages.at(-1)?.id),
          ...chat,
          models: [...chat.models],
          files: [...(chat.files ?? [])],
        },
        {
          ...(id !== undefined && { id }),
          folder_id: folderId ?? null,
          variables: variables ?? {},
          meta: { ...meta },
        },
      );
      return toFacts(row);
    },

    async places(chatId, ids) {
      const rows = await db
        .selectFrom("chat_message")
        .select(["id", "chat_id", "role", "parent_id"])
        .where("id", "=", anyOf(ids))
        .execute();
      const own = rows.filter((row) => row.chat_id === chatId);
      const found = new Map(own.map(({ id, role, parent_id }) => [id, { id, role, parentId: parent_id }]));
      // Contract D.16: a message of another chat is unknown here, and nothing is written in its name.
      if (rows.some(({ id }) => !found.has(id))) {
        throw new AppError("not_found", "Message not found");
      }
      return found;
    },

    async link(owner, chatId, { messages, shown, models, addedFiles }) {
      const chat = { ...toSentChat(messages, shown), ...(models && { models: [...models] }) };
      await actions.change(owner, chatId, { chat, addedFiles });
    },

    async rewrite(owner, chatId, changed) {
      const rows = await db
        .selectFrom("chat_message")
        .select("id")
        .where("chat_id", "=", chatId)
        .where("id", "=", anyOf(changed.map(({ id }) => id)))
        .execute();
      const there = new Set(rows.map(({ id }) => id));
      const messages = Object.fromEntries(
        changed.filter(({ id }) => there.has(id)).map((message) => [message.id, message]),
      );
      await actions.change(owner, chatId, { chat: { history: { messages } }, unseen: true });
    },

    async message(chatId, messageId) {
      const row = await db
        .selectFrom("chat_message")
        .select("seq")
        .where("chat_id", "=", chatId)
        .where("id", "=", messageId)
        .executeTakeFirst();
      const [message] = await readBranch(db, chatId, { leaf: messageId, limit: 1 });
      return row && message ? { message, seq: row.seq } : undefined;
    },
  };
}

/** What other plugins know of a stored chat. */
export function toFacts(row: ChatRow): ChatFacts {
  const { id, user_id, title, folder_id, current_message_id, meta, variables, chat } = row;
  return { id, user_id, title, folder_id, current_message_id, meta, variables, chat };
}

/** Messages as a partial chat; children follow from the parents. */
function toSentChat(messages: readonly AppendedMessage[], shown: string | undefined): SentChat {
  return {
    history: {
      messages: Object.fromEntries(messages.map((message) => [message.id, message])),
      ...(shown !== undefined && { currentId: shown }),
    },
  };
}
