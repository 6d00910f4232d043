import type { Principal } from "#kernel/access/principal.ts";
import { AppError } from "#kernel/errors.ts";
import type { GrantInput, GrantRow } from "#storage/grants.ts";
import type { ChatRow } from "../chat-store.ts";
import { type ChatParts, sharedType } from "../parts.ts";
import { findShareOfChat } from "./share-store.ts";

export type ShareAccess = ReturnType<typeof createShareAccess>;

/** Who may open the link of a chat. */
export function createShareAccess(
  parts: Pick<ChatParts, "db" | "transaction" | "chats" | "grants" | "accounts">,
) {
  const { db, transaction, chats, grants } = parts;
  /** Owners see when the snapshot was taken, so that they know whether the chat went on since. */
  const toAccess = async (row: ChatRow, list: readonly GrantRow[]) => ({
    chat_id: row.id,
    share_id: row.share_id,
    title: row.title,
    updated_at: row.updated_at,
    shared_at: (await findShareOfChat(db, row.id))?.updated_at ?? null,
    access_grants: list,
  });
  return {
    async access(caller: Principal, chatId: string) {
      const row = await chats.load(caller, chatId, "write");
      return await toAccess(row, await grants.list(sharedType, [chatId]));
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
      const allowed = await parts.accounts.givenGrants(caller, {
        wanted,
        held,
        everybody: "sharing.public_chats",
        anyone: "sharing.open_chats",
      });
      const stored = await transaction((tx) => grants.replace(tx, sharedType, chatId, allowed));
      return await toAccess(row, stored);
    },
  };
}
