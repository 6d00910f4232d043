import { type RawBuilder, sql, type SqlBool } from "kysely";
import type { Principal } from "#kernel/access/principal.ts";
import { seconds } from "#storage/clock.ts";
import { anyOf } from "#storage/values.ts";
import type { FileReferences } from "#plugins/files/service.ts";
import { isSharedByFolder } from "./folders.ts";
import { listTitles, toPage } from "../search/lists.ts";
import { announce, type ChatParts, sharedType } from "../parts.ts";
import { chatsRead, type FolderChats } from "../service.ts";
import type { ChatDatabase } from "../tables.ts";
import { forgetUnused, tagsOf } from "../tags/tag-store.ts";

/** What folders ask of the chats that lie in them. */
export function createFolderChats({ db, events, grants }: ChatParts): FolderChats {
  return {
    async titles({ id, user_id }, page) {
      const filter = { folder: id, archived: false };
      const rows = await listTitles(db, user_id, { filter, page: toPage(page) });
      return rows.map(({ share_id: _share, ...title }) => title);
    },

    async unread(folderIds) {
      if (folderIds.length === 0) {
        return new Map();
      }
      const rows = await db
        .selectFrom("chat")
        .select(["folder_id", (eb) => eb.fn.countAll<number>().as("total")])
        .where("folder_id", "=", anyOf(folderIds))
        .where(isUnread)
        .groupBy("folder_id")
        .execute();
      return new Map(rows.map(({ folder_id, total }) => [folder_id as string, Number(total)]));
    },

    async markRead(folderIds) {
      const now = seconds();
      const read = await db
        .updateTable("chat")
        .set({ last_read_at: sql<number>`greatest(${now}, updated_at)` })
        .where("folder_id", "=", anyOf(folderIds))
        .where(isUnread)
        .returning(["id", "user_id"])
        .execute();
      for (const [userId, rows] of Map.groupBy(read, (row) => row.user_id)) {
        events.emit(chatsRead, { userId, chatIds: rows.map(({ id }) => id) });
      }
    },

    async remove(tx: ChatDatabase, folderIds) {
      const rows = await tx
        .deleteFrom("chat")
        .where("folder_id", "=", anyOf(folderIds))
        .returning(["id", "user_id", "title", "meta"])
        .execute();
      const ids = rows.map(({ id }) => id);
      await grants.forget(tx, sharedType, ids);
      for (const [owner, theirs] of Map.groupBy(rows, ({ user_id }) => user_id)) {
        await forgetUnused(tx, owner, [...new Set(theirs.flatMap(tagsOf))]);
      }
      return (by: Principal) =>
        rows.forEach(({ id, title }) => announce(events, "chat.deleted", { by, id, data: { title } }));
    },
  };
}

/** Readers of a chat through its folder may read the files of its owner that it shows. */
export function toFolderReference(parts: Pick<ChatParts, "db" | "folders">): FileReferences {
  return {
    id: "chats.in-folders",
    async isReachable(principal, fileId, action) {
      if (action !== "read") {
        return false;
      }
      const rows = await parts.db
        .selectFrom("chat_file")
        .innerJoin("chat", "chat.id", "chat_file.chat_id")
        .select(["chat.folder_id", "chat.user_id", "chat.archived"])
        .distinct()
        .where("chat_file.file_id", "=", fileId)
        .whereRef("chat_file.user_id", "=", "chat.user_id")
        .where("chat.folder_id", "is not", null)
        .where("chat.archived", "=", false)
        .where("chat.is_internal", "=", false)
        .execute();
      for (const row of rows) {
        if (await isSharedByFolder(parts, principal, { ...row, meta: {} })) {
          return true;
        }
      }
      return false;
    },
  };
}

/** The condition of the index `chat_folder_unread`, word for word: counting reads nothing but what is counted. */
const isUnread: RawBuilder<SqlBool> = sql<SqlBool>`folder_id is not null and not archived and not is_internal
  and (last_read_at is null or last_read_at < updated_at)`;
