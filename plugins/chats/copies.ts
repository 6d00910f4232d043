import type { Principal } from "#kernel/access/principal.ts";
import type { ChatRow } from "./chat-store.ts";
import { copyChat } from "./copy-rows.ts";
import { announce, type ChatParts } from "./parts.ts";
import { requireRow } from "./require-row.ts";
import type { SentChat } from "./schema.ts";
import { findShare, readShownFiles, readSnapshot } from "./sharing/share-store.ts";
import { prepareChat } from "./tree/prepare-chat.ts";
import { storeChats } from "./tree/store-chats.ts";
import { withClearConflicts } from "./violations.ts";

export type Copies = ReturnType<typeof createCopies>;

/** New chats made of others. */
export function createCopies(parts: ChatParts) {
  const { db, chats, shares, events, limits } = parts;

  const copied = (caller: Principal, row: ChatRow, from: string) => {
    announce(events, "chat.cloned", { by: caller, id: row.id, data: { title: row.title, from } });
    return row;
  };

  return {
    /** The whole chat once more, variables included. Throws `conflict` while a run writes into it. */
    async clone(caller: Principal, id: string, title: string | undefined): Promise<ChatRow> {
      await chats.load(caller, id, "write");
      const wish = { toTitle: (original: string) => title ?? `Clone of ${original}` };
      const row = await withClearConflicts(() => copyChat(parts, id, wish));
      return copied(caller, row, id);
    },

    /** The branch that ends with a message (the shown one when none is named) as a chat of its own. */
    async fork(caller: Principal, id: string, messageId: string | undefined): Promise<ChatRow> {
      await chats.load(caller, id, "write");
      const wish = { toTitle: (original: string) => `Fork of ${original}`, leaf: messageId ?? null };
      const row = await withClearConflicts(() => copyChat(parts, id, wish));
      return copied(caller, row, id);
    },

    /** A chat of the caller's own from somebody's snapshot. Throws `not_found` for shares the caller may not read. */
    async cloneShared(caller: Principal, shareId: string): Promise<ChatRow> {
      const share = await findShare(db, shareId);
      const { id, chat_id, title } = await shares.load(caller, share?.chat_id ?? shareId, "read");
      const snapshot = requireRow(await readSnapshot(db, id, "chat"));
      limits.copyBytes.take(caller.userId, Buffer.byteLength(snapshot));
      const shared = JSON.parse(snapshot) as SentChat;
      // Tags belong to the account that set them.
      const { tags: _tags, ...sent } = shared;
      // A file that the share does not open stays out, also the caller's own: sharing the clone would open it.
      const shown = new Set(await readShownFiles(db, id));
      const prepared = await prepareChat(parts, caller, {
        sent,
        isNew: true,
        mayShow: (file) => shown.has(file),
      });
      const named = {
        ...prepared,
        sent: { ...prepared.sent, title: `Clone of ${title}`, originalChatId: chat_id },
      };
      const [row] = await withClearConflicts(() =>
        storeChats(parts, caller, [{ prepared: named, facts: {} }]),
      );
      return copied(caller, requireRow(row), chat_id);
    },
  };
}
