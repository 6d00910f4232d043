import { hasPermission } from "#kernel/access/permissions.ts";
import { isMember, type Principal } from "#kernel/access/principal.ts";
import { AppError } from "#kernel/errors.ts";
import type { GrantInput, GrantRow } from "#storage/grants.ts";
import { anyOf } from "#storage/values.ts";
import { readChatText, toJsonReply } from "./answers.ts";
import { filesOfMessage, linkedFileIds } from "./chat-files.ts";
import { type ChatRow, findChat, lockChat } from "./chat-store.ts";
import { found } from "./chats.ts";
import { opened } from "./compose.ts";
import { announce, type ChatParts, sharedType } from "./parts.ts";
import { findShare, readSnapshot, saveSnapshot, type ShareRow } from "./share-store.ts";
import { toOpenChat } from "./share-view.ts";
import type { ChatDatabase } from "./tables.ts";

export type Shares = ReturnType<typeof createShares>;

/** What others were given to read of chats: a snapshot behind a link, by grants of the type shared_chat. */
export function createShares(parts: ChatParts) {
  const { db, transaction, chats, shares, grants, events } = parts;

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

    /** Answers what is behind a link. Visitors need the grant for anyone, and are told the same whether it exists or not. */
    async open(caller: Principal | undefined, shareId: string) {
      const share = await findShare(db, shareId);
      if (caller === undefined || !isMember(caller)) {
        const visitor = { userId: null, groupIds: [] };
        const open = await grants.allowed(visitor, "read", sharedType, [share?.chat_id ?? shareId]);
        if (share === undefined || !open.has(share.chat_id)) {
          throw new AppError("not_found", "Not found");
        }
        return await answerShare(share, "open_chat");
      }
      const row = await shares.load(caller, share?.chat_id ?? shareId, "read");
      return await answerShare(row, "chat");
    },

    /** The snapshot in the place of the chat, for those who were given the chat to read. */
    async openAsChat(caller: Principal, chatId: string) {
      const row = await shares.load(caller, chatId, "read");
      const head = {
        id: row.chat_id,
        user_id: row.user_id,
        title: row.title,
        updated_at: row.updated_at,
        created_at: row.created_at,
        share_id: row.id,
        archived: false,
        pinned: false,
        meta: {},
        variables: null,
        folder_id: null,
        tasks: null,
        summary: null,
        last_read_at: null,
        current_message_id: null,
      };
      return toJsonReply(pieces(head, found(await readSnapshot(db, row.id, "chat"))));
    },

    async access(caller: Principal, chatId: string) {
      const row = await chats.load(caller, chatId, "write");
      return toAccess(row, await grants.list(sharedType, [chatId]));
    },

    /**
     * Says who may read what is behind the link. What the caller may not give is left out; a grant that cannot be is
     * refused (access grant rule 4).
     */
    async setAccess(caller: Principal, chatId: string, wanted: readonly GrantInput[]) {
      const row = await chats.load(caller, chatId, "write");
      for (const grant of wanted) {
        if (
          grant.principal_type === "anyone" &&
          (grant.principal_id !== "*" || grant.permission !== "read")
        ) {
          throw new AppError(
            "invalid",
            "A grant without sign-in has the principal * and allows reading only.",
          );
        }
      }
      const held = await grants.list(sharedType, [chatId]);
      const allowed = await toStored(caller, wanted, held);
      const stored = await transaction((tx) => grants.replace(tx, sharedType, chatId, allowed));
      return toAccess(row, stored);
    },
  };

  async function removeShares(tx: ChatDatabase, chatIds: readonly string[]): Promise<void> {
    await tx.deleteFrom("shared_chat").where("chat_id", "=", anyOf(chatIds)).execute();
    await tx.updateTable("chat").set({ share_id: null }).where("id", "=", anyOf(chatIds)).execute();
    await grants.forget(tx, sharedType, chatIds);
  }

  async function answerShare(share: ShareRow, which: "chat" | "open_chat") {
    const { id, title, created_at, updated_at, chat_id, user_id } = share;
    const ids = which === "chat" ? { chat_id, user_id } : {};
    const head = { id, ...ids, title, share_id: id, created_at, updated_at };
    return toJsonReply(pieces(head, found(await readSnapshot(db, id, which))));
  }

  /** Contract §0: what somebody may not give is left out without an error; what is given already stays. */
  async function toStored(caller: Principal, wanted: readonly GrantInput[], held: readonly GrantRow[]) {
    const kept = new Set(held.map(keyOf));
    const allowed = wanted.filter((grant) => kept.has(keyOf(grant)) || mayGive(caller, grant));
    const users = allowed.filter(
      ({ principal_type: type, principal_id: id }) => type === "user" && id !== "*",
    );
    const known = await parts.accounts.summaries(users.map(({ principal_id: id }) => id));
    return allowed.filter((grant) => !users.includes(grant) || known.has(grant.principal_id));
  }
}

async function* pieces(head: Record<string, unknown>, chat: string): AsyncGenerator<string> {
  yield `${opened(head)}"chat":`;
  yield chat;
  yield "}";
}

/** Those of a chat's files that the snapshot shows. */
function toShown(chat: Record<string, unknown>, linked: readonly string[]): string[] {
  const { messages } = chat["history"] as { messages: Record<string, Record<string, unknown>> };
  const shown = new Set(Object.values(messages).flatMap(filesOfMessage));
  filesOfMessage({ files: chat["files"] }).forEach((id) => shown.add(id));
  return linked.filter((id) => shown.has(id));
}

function toAccess(row: ChatRow, list: readonly GrantRow[]) {
  return { chat_id: row.id, share_id: row.share_id, access_grants: list };
}

function mayGive(caller: Principal, { principal_type: type, principal_id: id }: GrantInput): boolean {
  if (type === "anyone") {
    return hasPermission(caller, "sharing.open_chats");
  }
  if (type === "group") {
    return hasPermission(caller, "access_grants.allow_groups");
  }
  return hasPermission(caller, id === "*" ? "sharing.public_chats" : "access_grants.allow_users");
}

function keyOf({ principal_type: type, principal_id: id, permission }: GrantInput): string {
  return [type, permission, id].join(" ");
}
