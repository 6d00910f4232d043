import type { Principal } from "#kernel/access/principal.ts";
import { AppError } from "#kernel/errors.ts";
import { seconds } from "#storage/clock.ts";
import { type ChatRow, findChat } from "./chat-store.ts";
import { announce, type ChatParts, sharedType } from "./parts.ts";
import { mergeChat, type NewChatFacts, prepareChat, type PreparedChat, storeChat } from "./save.ts";
import type { SentChat } from "./schema.ts";
import { forgetUnused, tagsOf } from "./tag-store.ts";
import type { ChatDatabase } from "./tables.ts";
import { withClearConflicts } from "./violations.ts";

export interface ImportedChat {
  readonly chat: SentChat;
  readonly facts: NewChatFacts;
}

export type ChatActions = ReturnType<typeof createChatActions>;

/** What owners do with whole chats. */
export function createChatActions(parts: ChatParts) {
  const { db, transaction, chats, events } = parts;

  /** Throws `not_found` for a folder that the caller cannot put chats into. */
  async function requireFolder(caller: Principal, folderId: string, action: "read" | "write"): Promise<void> {
    for (const folders of parts.folders.list()) {
      if (await folders.isReachable(caller, folderId, action)) {
        return;
      }
    }
    throw new AppError("not_found", "Folder not found");
  }

  return {
    requireFolder,

    async create(caller: Principal, sent: SentChat, facts: NewChatFacts): Promise<ChatRow> {
      if (facts.folder_id) {
        await requireFolder(caller, facts.folder_id, "write");
      }
      const prepared = await prepareChat(parts, caller, { sent, isNew: true });
      const row = await withClearConflicts(() =>
        transaction((tx) => storeChat(tx, caller, { prepared, facts, heal: false })),
      );
      announce(events, "chat.created", { by: caller, id: row.id, data: { title: row.title } });
      return row;
    },

    /** Stores chats of an export as new ones of the caller: all or none. */
    async import(caller: Principal, list: readonly ImportedChat[]): Promise<ChatRow[]> {
      const prepared: { facts: NewChatFacts; prepared: PreparedChat }[] = [];
      for (const { chat, facts } of list) {
        prepared.push({
          facts: await toKnownFolder(caller, facts),
          prepared: await prepareChat(parts, caller, { sent: chat, isNew: true }),
        });
      }
      const rows = await withClearConflicts(() =>
        transaction(async (tx) => {
          const stored: ChatRow[] = [];
          for (const one of prepared) {
            stored.push(await storeChat(tx, caller, { ...one, heal: true }));
          }
          return stored;
        }),
      );
      for (const { id, title } of rows) {
        announce(events, "chat.imported", { by: caller, id, data: { title } });
      }
      return rows;
    },

    /** Merges a partial chat. Throws `not_found`, `forbidden`, or `invalid` for a broken tree. */
    async update(caller: Principal, id: string, sent: SentChat): Promise<ChatRow> {
      await chats.load(caller, id, "write");
      const prepared = await prepareChat(parts, caller, { sent, isNew: false });
      const row = await withClearConflicts(() => transaction((tx) => mergeChat(tx, id, prepared)));
      announce(events, "chat.updated", { by: caller, id, data: { title: row.title } });
      return row;
    },

    async remove(caller: Principal, id: string): Promise<void> {
      const row = await chats.load(caller, id, "write");
      await transaction(async (tx) => {
        await tx.deleteFrom("chat").where("id", "=", id).execute();
        await parts.grants.forget(tx, sharedType, [id]);
        await forgetUnused(tx, row.user_id, tagsOf(row));
      });
      announce(events, "chat.deleted", { by: caller, id, data: { title: row.title } });
    },

    async removeAll(caller: Principal): Promise<void> {
      await transaction(async (tx) => {
        const rows = await tx
          .deleteFrom("chat")
          .where("user_id", "=", caller.userId)
          .returning("id")
          .execute();
        await tx.deleteFrom("tag").where("user_id", "=", caller.userId).execute();
        await parts.grants.forget(
          tx,
          sharedType,
          rows.map(({ id }) => id),
        );
      });
      announce(events, "chat.deleted_all", { by: caller });
    },

    /** A chat that was just written, as it is now. */
    async reread(id: string): Promise<ChatRow> {
      return found(await findChat(db, id));
    },
  };

  /** A folder of another installation means nothing here. */
  async function toKnownFolder(caller: Principal, facts: NewChatFacts): Promise<NewChatFacts> {
    const { folder_id: folder } = facts;
    if (!folder) {
      return facts;
    }
    const isKnown = await requireFolder(caller, folder, "write").then(
      () => true,
      (error: unknown) => {
        if (error instanceof AppError && error.code === "not_found") {
          return false;
        }
        throw error;
      },
    );
    return isKnown ? facts : { ...facts, folder_id: null };
  }
}

/** Marks a chat as changed now. */
export async function touch(tx: ChatDatabase, id: string): Promise<void> {
  await tx.updateTable("chat").set({ updated_at: seconds() }).where("id", "=", id).execute();
}

export function found<T>(row: T | undefined): T {
  if (row === undefined) {
    throw new AppError("not_found", "Not found");
  }
  return row;
}
