import { AppError } from "#kernel/errors.ts";
import type { CompletionRequest } from "#kernel/completion/request.ts";
import type { Principal } from "#kernel/access/principal.ts";

/** Says whether a caller may write into a chat; filled by the plugin that stores chats. */
export interface ChatAccess {
  mayWrite(principal: Principal, chatId: string): Promise<boolean>;
}

/**
 * Throws `not_found` for a chat that the caller may not write into: unknown and foreign ones alike. There is nothing to
 * wait for where the request names none.
 */
export function requireChat(
  { chat_id: chatId }: Pick<CompletionRequest, "chat_id">,
  principal: Principal,
  chats: readonly ChatAccess[],
): Promise<void> | undefined {
  return !chatId || isTemporary(chatId) ? undefined : requireStored(chatId, principal, chats);
}

async function requireStored(
  chatId: string,
  principal: Principal,
  chats: readonly ChatAccess[],
): Promise<void> {
  const known = await Promise.all(chats.map((chat) => chat.mayWrite(principal, chatId)));
  if (!known.includes(true)) {
    throw new AppError("not_found", "Chat not found");
  }
}

/** A chat that is stored nowhere: `temporary:<uuid>`. */
function isTemporary(chatId: string): boolean {
  return chatId.startsWith("temporary:");
}
