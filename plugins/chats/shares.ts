import type { Principal } from "#kernel/access/principal.ts";
import { anyOf } from "#storage/values.ts";
import { readChatText } from "./answers.ts";
import { filesOfMessage, linkedFileIds } from "./chat-files.ts";
import { type ChatRow, findChat, lockChat } from "./chat-store.ts";
import { found } from "./found.ts";
import { announce, type ChatParts, sharedType } from "./parts.ts";
import { saveSnapshot } from "./share-store.ts";
import { toOpenChat } from "./share-view.ts";
import type { ChatDatabase } from "./tables.ts";

export type Shares = ReturnType<typeof createShares>;

/** Snapshots of chats behind links, for others to read by grants of the type shared_chat. */
export function createShares(parts: ChatParts) {
  const { db, transaction, chats, grants, events } = parts;

  return {
    /** Takes the snapshot, or takes it anew behind the same link. */
    async share(caller: Principal, id: string): Promise<ChatRow> {
      const row = await chats.load(caller, id, "write");
      const text = await readChatText(db, row);
      const chat = JSON.parse(text) as Record<string, unknown>;
      const snapshot = {
        title: row.title,
        chat: text,
        openChat: JSON.stringify(toOpenChat(chat)),
        fileIds: toShown(chat, await linkedFileIds(db, id)),
      };
      const shareId = await transaction(async (tx) => {
        found(await lockChat(tx, id));
        return await saveSnapshot(tx, row, snapshot);
      });
      announce(events, "chat.shared", { by: caller, id, data: { share_id: shareId } });
      return found(await findChat(db, id));
    },

    /** Takes link, snapshot and grants away; from now on the link leads nowhere. */
    async unshare(caller: Principal, id: string): Promise<void> {
      await chats.load(caller, id, "write");
      await transaction((tx) => removeShares(tx, [id]));
      announce(events, "chat.unshared", { by: caller, id });
    },

    async unshareAll(caller: Principal): Promise<void> {
      const rows = await db
        .selectFrom("shared_chat")
        .select("chat_id")
        .where("user_id", "=", caller.userId)
        .execute();
      await transaction((tx) =>
        removeShares(
          tx,
          rows.map(({ chat_id }) => chat_id),
        ),
      );
      announce(events, "chat.unshared", { by: caller });
    },
  };

  async function removeShares(tx: ChatDatabase, chatIds: readonly string[]): Promise<void> {
    await tx.deleteFrom("shared_chat").where("chat_id", "=", anyOf(chatIds)).execute();
    await tx.updateTable("chat").set({ share_id: null }).where("id", "=", anyOf(chatIds)).execute();
    await grants.forget(tx, sharedType, chatIds);
  }
}

/** Those of a chat's files that the snapshot shows. */
function toShown(chat: Record<string, unknown>, linked: readonly string[]): string[] {
  const { messages } = chat["history"] as { messages: Record<string, Record<string, unknown>> };
  const shown = new Set(Object.values(messages).flatMap(filesOfMessage));
  filesOfMessage({ files: chat["files"] }).forEach((id) => shown.add(id));
  return linked.filter((id) => shown.has(id));
}
