import { AppError } from "#kernel/errors.ts";
import type { CompletionRequest } from "#kernel/completion/request.ts";
import type { Principal } from "#kernel/access/principal.ts";
import type { Models, ResolvedModel } from "#plugins/models/service.ts";
import type { ChatAccess } from "./service.ts";

/**
 * Resolves the model and checks that the caller may write the chat the request names. Throws `not_found` for
 * unknown and foreign models and chats alike, before anything is written or an upstream is asked.
 */
export async function admit(
  request: CompletionRequest,
  { principal, models, chats }: { principal: Principal; models: Models; chats: readonly ChatAccess[] },
): Promise<ResolvedModel> {
  const chatId = request.chat_id;
  if (chatId && !isTemporary(chatId)) {
    const known = await Promise.all(chats.map((chat) => chat.mayWrite(principal, chatId)));
    if (!known.includes(true)) {
      throw new AppError("not_found", "Chat not found");
    }
  }
  if (chatId && request.id && request.stream === true && chats.length === 0) {
    throw new AppError(
      "unavailable",
      "Runs that are bound to a chat need the chats plugin, which this deployment does not have.",
    );
  }
  return models.resolve(principal, request.model);
}

/** A chat that is stored nowhere: `temporary:<uuid>`. */
export function isTemporary(chatId: string): boolean {
  return chatId.startsWith("temporary:");
}
