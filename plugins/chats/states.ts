import { sql } from "kysely";
import type { Principal } from "#kernel/access/principal.ts";
import { toEnvelope } from "#kernel/sockets/envelope.ts";
import type { Hub } from "#kernel/sockets/hub.ts";
import { toRoom } from "#kernel/sockets/rooms.ts";
import { seconds } from "#storage/clock.ts";
import { type ChatRecord, type ChatRow, recordColumns, setFields } from "./chat-store.ts";
import { requireFolder } from "./folders/folders.ts";
import { chatsRead } from "./service.ts";
import { requireRow } from "./require-row.ts";
import { announce, type ChatParts } from "./parts.ts";
import { withClearConflicts } from "./violations.ts";

export type States = ReturnType<typeof createStates>;

/** Where a chat stands in its owner's lists; none of it counts as a change of the chat. */
export function createStates(parts: ChatParts, hub: Pick<Hub, "emit">) {
  const { db, chats, events } = parts;
  /** Without `wanted` flips in the database, so that two clicks at once are two flips. */
  const set = async (
    caller: Principal,
    id: string,
    { field, wanted }: { field: "pinned" | "archived"; wanted: boolean | undefined },
  ): Promise<ChatRecord> => {
    await chats.load(caller, id, "write");
    const row = await db
      .updateTable("chat")
      .set((eb) => ({ [field]: wanted ?? eb.not(eb.fn.coalesce(field, eb.lit(false))) }))
      .where("id", "=", id)
      .returning(recordColumns)
      .executeTakeFirst();
    return requireRow(row);
  };

  return {
    async pin(caller: Principal, id: string, wanted?: boolean): Promise<ChatRecord> {
      const row = await set(caller, id, { field: "pinned", wanted });
      announce(events, row.pinned ? "chat.pinned" : "chat.unpinned", { by: caller, id });
      return row;
    },

    async archive(caller: Principal, id: string, wanted?: boolean): Promise<ChatRecord> {
      const row = await set(caller, id, { field: "archived", wanted });
      announce(events, row.archived ? "chat.archived" : "chat.unarchived", { by: caller, id });
      return row;
    },

    async archiveAll(caller: Principal, archived: boolean): Promise<void> {
      await db
        .updateTable("chat")
        .set({ archived })
        .where("user_id", "=", caller.userId)
        .where("archived", "=", !archived)
        .where("is_internal", "=", false)
        .execute();
      announce(events, archived ? "chat.archived" : "chat.unarchived", { by: caller });
    },

    /** Throws `not_found` or `forbidden` for a folder that the caller cannot put chats into. */
    async setFolder(caller: Principal, id: string, folderId: string | null): Promise<ChatRow> {
      await chats.load(caller, id, "write");
      if (folderId !== null) {
        await requireFolder(parts, caller, { id: folderId, action: "write" });
      }
      const row = requireRow(await withClearConflicts(() => setFields(db, id, { folder_id: folderId })));
      announce(events, "chat.folder_updated", { by: caller, id, data: { folder_id: folderId } });
      return row;
    },

    async setRead(caller: Principal, id: string, isRead: boolean): Promise<ChatRecord> {
      await chats.load(caller, id, "write");
      // The chat may be newer than the clock of this process.
      const last_read_at = isRead ? sql<number>`greatest(${seconds()}, updated_at)` : null;
      const row = requireRow(
        await db
          .updateTable("chat")
          .set({ last_read_at })
          .where("id", "=", id)
          .returning(recordColumns)
          .executeTakeFirst(),
      );
      // Other windows of the owner count unread chats as well.
      const data = { chat_id: id, folder_id: row.folder_id, last_read_at: row.last_read_at };
      hub.emit(
        toRoom("user", caller.userId),
        "events",
        toEnvelope({ type: "chat:list", data }, { chatId: id }),
      );
      if (isRead) {
        events.emit(chatsRead, { userId: row.user_id, chatIds: [id] });
      }
      return row;
    },
  };
}
