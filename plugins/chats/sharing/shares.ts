import type { Principal } from "#kernel/access/principal.ts";
import { anyOf } from "#storage/values.ts";
import { readChatText } from "../reading/answers.ts";
import { filesAndAddresses, filesOfMessage, linkedFileIds } from "../files/chat-files.ts";
import { withoutForeignEntries, withoutForeignFiles } from "../files/foreign-files.ts";
import { type ChatRow, findChat, lockChat } from "../chat-store.ts";
import { requireRow } from "../require-row.ts";
import { toSettled } from "../tree/normalize-import.ts";
import { announce, type ChatParts, sharedType } from "../parts.ts";
import { saveSnapshot, type Snapshot } from "./share-store.ts";
import { toOpenHead, toOpenMessage } from "./share-view.ts";
import type { ChatDatabase } from "../tables.ts";

export type Shares = ReturnType<typeof createShares>;

/** Snapshots of chats behind links, for others to read by grants of the type shared_chat. */
export function createShares(parts: ChatParts) {
  const { db, transaction, chats, grants, events } = parts;

  return {
    /** Takes the snapshot, or takes it anew behind the same link. */
    async share(caller: Principal, id: string): Promise<ChatRow> {
      const row = await chats.load(caller, id, "write");
      const snapshot = await takeSnapshot(db, row);
      const shareId = await transaction(async (tx) => {
        requireRow(await lockChat(tx, id));
        return await saveSnapshot(tx, row, snapshot);
      });
      announce(events, "chat.shared", { by: caller, id, data: { share_id: shareId } });
      return requireRow(await findChat(db, id));
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

/** Message by message: a chat of 40 MB must not keep the event loop. How its owner files the chat is not shown. */
async function takeSnapshot(db: ChatDatabase, row: ChatRow): Promise<Snapshot> {
  const open = new Map<string, string>();
  const shown = new Set<string>();
  // Linked files are the owner's own.
  const linked = await linkedFileIds(db, row.id);
  const own = new Set(linked);
  const isOwn = (file: string) => own.has(file);
  const {
    text,
    branch: shownBranch,
    files,
  } = await readChatText(
    db,
    { ...row, meta: {} },
    {
      message(id, message) {
        const parsed = JSON.parse(message) as Record<string, unknown>;
        // A reply that is being written stays as it is now: no run goes on with it here.
        const settled = withoutForeignFiles(toSettled(parsed), isOwn);
        open.set(id, JSON.stringify(toOpenMessage(settled)));
        filesAndAddresses(settled).forEach((file) => shown.add(file));
        return settled === parsed ? undefined : JSON.stringify(settled);
      },
      files: (list) => withoutForeignEntries(list, isOwn),
    },
  );
  filesOfMessage({ files }).forEach((file) => shown.add(file));
  const head = JSON.stringify(toOpenHead({ ...row.chat, title: row.title }));
  const messages = [...open].map(([id, message]) => `${JSON.stringify(id)}:${message}`).join(",");
  const currentId = JSON.stringify(row.current_message_id);
  const branch = shownBranch.flatMap((id) => open.get(id) ?? []).join(",");
  return {
    title: row.title,
    chat: text,
    openChat: `${head.slice(0, -1)},"history":{"currentId":${currentId},"messages":{${messages}}},"messages":[${branch}]}`,
    fileIds: linked.filter((file) => shown.has(file)),
  };
}
