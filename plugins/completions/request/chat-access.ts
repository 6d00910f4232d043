import { AppError } from "#kernel/errors.ts";
import type { CompletionRequest } from "#kernel/completion/request.ts";
import type { Principal } from "#kernel/access/principal.ts";

/** What a stored chat lends to completions in it. */
export interface ChatFacts {
  readonly id: string;
  readonly folderId: string | undefined;
  /** What people filled in for `{{chat.variables.<key>}}`. */
  readonly variables: Readonly<Record<string, unknown>>;
}

/** Opens chats for completions; filled by the plugin that knows stored chats. */
export interface ChatAccess {
  /** Undefined for a chat that is unknown or that the caller may not write into. */
  open(principal: Principal, chatId: string): Promise<ChatFacts | undefined>;
}

/**
 * What the stored chat of a request lends to it. Throws `not_found` for one that the caller may not write into: unknown
 * and foreign ones alike.
 */
export async function requireChat(
  { chat_id: chatId }: Pick<CompletionRequest, "chat_id">,
  principal: Principal,
  chats: readonly ChatAccess[],
): Promise<ChatFacts | undefined> {
  if (!chatId || isTemporary(chatId)) {
    return undefined;
  }
  const opened = await Promise.all(chats.map((chat) => chat.open(principal, chatId)));
  const facts = opened.find((each) => each !== undefined);
  if (facts === undefined) {
    throw new AppError("not_found", "Chat not found");
  }
  return facts;
}

/** A chat that is stored nowhere: `temporary:<uuid>`. */
export function isTemporary(chatId: string): boolean {
  return chatId.startsWith("temporary:");
}
