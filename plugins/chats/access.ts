import type { Access, Action } from "#kernel/access/resource.ts";
import type { Principal } from "#kernel/access/principal.ts";
import { type ChatRow, findChat } from "./chat-store.ts";
import { isSharedByFolder } from "./folders/folders.ts";
import { type ChatParts, sharedType } from "./parts.ts";
import { findShareOfChat, type ShareRow } from "./sharing/share-store.ts";
import type { ChatDatabase } from "./tables.ts";

interface Options {
  readonly db: ChatDatabase;
  readonly access: Access;
  readonly folders: ChatParts["folders"];
  adminsRead(): boolean;
}

/** The ways from an id to a chat and to what was shared of it. */
export function createLoaders({
  db,
  access,
  folders,
  adminsRead,
}: Options): Pick<ChatParts, "chats" | "shares"> {
  // Contract D.16: only the owner writes; what administrators may read is said by ENABLE_ADMIN_CHAT_ACCESS alone.
  const isForAdmin = (principal: Principal, action: Action) =>
    action === "read" && principal.role === "admin" && adminsRead();
  return {
    chats: access.loader<ChatRow>({
      type: "chat",
      find: (id) => findChat(db, id),
      ownerOf: (row) => row.user_id,
      adminPasses: false,
      reachable: async (principal, row, action) =>
        isForAdmin(principal, action) ||
        (action === "read" && (await isSharedByFolder({ folders }, principal, row))),
    }),
    shares: access.loader<ShareRow>({
      type: sharedType,
      find: (id) => findShareOfChat(db, id),
      ownerOf: (row) => row.user_id,
      adminPasses: false,
      reachable: async (principal, _row, action) => isForAdmin(principal, action),
    }),
  };
}
