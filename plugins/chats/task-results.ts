import { sql } from "kysely";
import { AppError } from "#kernel/errors.ts";
import { lockChat } from "./chat-store.ts";
import { announce, type ChatParts } from "./parts.ts";
import type { Chats } from "./service.ts";
import { toStorableJson } from "./storable.ts";
import { toTagId } from "./tags/tag-names.ts";
import { addTags, tagNamesOf, tagsOf } from "./tags/tag-store.ts";

/** Titles, tags and checklists that models make; what a person chose stays. */
export function createTaskResults({
  db,
  transaction,
  events,
}: Pick<ChatParts, "db" | "transaction" | "events">): Pick<Chats, "retitle" | "tag" | "changeTasks"> {
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

    changeTasks: (owner, chatId, change) =>
      transaction(async (tx) => {
        const chat = await lockChat(tx, chatId);
        if (chat === undefined || chat.user_id !== owner.userId) {
          throw new AppError("not_found", "Chat not found");
        }
        const tasks = change(chat.tasks);
        const stored = sql<unknown>`cast(cast(${toStorableJson(tasks)} as text) as jsonb)`;
        await tx.updateTable("chat").set({ tasks: stored }).where("id", "=", chatId).execute();
        return tasks;
      }),

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
