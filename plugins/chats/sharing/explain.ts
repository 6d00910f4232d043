import type { ExplainedResource, OtherWay } from "#plugins/accounts/service.ts";
import { findChat } from "../chat-store.ts";
import { isSharedByFolder } from "../folders/folders.ts";
import { type ChatParts, sharedType } from "../parts.ts";
import { findShare } from "./share-store.ts";

type Parts = Pick<ChatParts, "db" | "chats" | "shares" | "folders" | "adminsRead">;

/** Tells administrators why somebody can see a chat: the chat itself, or what its link shows of it. */
export function explainChats({ db, chats, shares, folders, adminsRead }: Parts): ExplainedResource {
  return {
    kind: "chat",
    grantType: sharedType,
    async find(asker, id) {
      const share = await findShare(db, id);
      const row = await findChat(db, share?.chat_id ?? id);
      const isShown = row !== undefined && (await chats.find(asker, row.id, "read")) !== undefined;
      return row && { id: row.id, name: isShown ? row.title : row.id, ownerId: row.user_id };
    },
    may: async (principal, id, permission) =>
      (await chats.find(principal, id, permission)) !== undefined ||
      (permission === "read" && (await shares.find(principal, id, permission)) !== undefined),
    async others(principal, id) {
      const row = await findChat(db, id);
      const isInFolder = row !== undefined && (await isSharedByFolder({ folders }, principal, row));
      const isAdmin = principal.role === "admin" && adminsRead();
      return [
        ...(isInFolder ? [{ rule: "folder", permission: "read" } satisfies OtherWay] : []),
        ...(isAdmin ? [{ rule: "administrator", permission: "read" } satisfies OtherWay] : []),
      ];
    },
  };
}
