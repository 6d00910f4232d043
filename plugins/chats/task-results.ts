import { sql } from "kysely";
import { lockChat } from "./chat-store.ts";
import { announce, type ChatParts } from "./parts.ts";
import type { Chats } from "./service.ts";
import { toTagId } from "./tags/tag-names.ts";
import { addTags, tagNamesOf, tagsOf } from "./tags/tag-store.ts";

/** Titles and tags that models find; what a person chose stays. */
export function createTaskResults({
  db,
  transaction,
  events,
}: Pick<ChatParts, "db" | "transaction" | "events">): Pick<Chats, "retitle" | "tag"> {
  return {
    async retitle(owner, chatId, title) {
      const row = await db
        .updateTable("chat")
        .set({ title })
        .where("id", "=", chatId)
        .where("user_id", "=", owner.userId)
        .where(sql<boolean>`meta -> ${sql.lit(renamed)} is distinct from 'true'::jsonb`)
        .returning("id")
        .executeTakeFirst();
      if (row !== undefined) {
        announce(events, "chat.updated", { by: owner, id: chatId, data: { title } });
      }
      return row !== undefined;
    },

    async tag(owner, chatId, names) {
      const added = await transaction(async (tx) => {
        const chat = await lockChat(tx, chatId);
        if (chat === undefined || chat.user_id !== owner.userId) {
          return [];
        }
        const known = new Set(tagsOf(chat));
        const fresh = tagNamesOf(undefined, names).filter((name) => !known.has(toTagId(name)));
        if (fresh.length > 0) {
          await addTags(tx, chat, fresh);
        }
        return fresh;
      });
      for (const name of added) {
        announce(events, "chat.tag_added", { by: owner, id: chatId, data: { tag: toTagId(name) } });
      }
    },
  };
}

/** The key of `meta` that says that a person chose the title. */
export const renamed = "renamed";
