import { findOwnFiles, linkMessageFiles } from "./chat-files.ts";
import { lockChat } from "../chat-store.ts";
import type { ChatParts } from "../parts.ts";
import type { Replies } from "../replies/service-types.ts";

export type FileLinks = Pick<Replies, "linkFiles">;

/** Files that come to a message while it is written: the chat's list of files knows them at once. */
export function createFileLinks({ files, transaction }: Pick<ChatParts, "files" | "transaction">): FileLinks {
  return {
    async linkFiles(owner, { chatId, messageId }, entries) {
      const messages = [
        { id: messageId, message: { files: entries }, parentId: undefined, childrenIds: undefined },
      ];
      const own = await findOwnFiles(files, owner.userId, { messages });
      if (own.size === 0) {
        return;
      }
      await transaction(async (tx) => {
        const chat = await lockChat(tx, chatId);
        const message = await tx
          .selectFrom("chat_message")
          .select("id")
          .where("chat_id", "=", chatId)
          .where("id", "=", messageId)
          .executeTakeFirst();
        if (chat?.user_id === owner.userId && message) {
          await linkMessageFiles(tx, chat, { messages, own });
        }
      });
    },
  };
}
