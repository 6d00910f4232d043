import { AppError } from "#kernel/errors.ts";
import type { Chats } from "#plugins/chats/service.ts";
import type { ChatAccess } from "#plugins/completions/service.ts";

/** Opens stored chats for completions that are answered over HTTP. */
export function createChatAccess(chats: Pick<Chats, "require">): ChatAccess {
  return {
    async open(principal, chatId) {
      try {
        const { id, folder_id: folderId, variables } = await chats.require(principal, chatId);
        return { id, folderId: folderId ?? undefined, variables: variables ?? {} };
      } catch (error) {
        // Anything else is a failure of the server's, and says nothing of the chat.
        if (error instanceof AppError && (error.code === "not_found" || error.code === "forbidden")) {
          return undefined;
        }
        throw error;
      }
    },
  };
}
