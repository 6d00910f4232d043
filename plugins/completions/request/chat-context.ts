import type { Principal } from "#kernel/access/principal.ts";
import type { CompletionRequest } from "#kernel/completion/request.ts";
import { isObject } from "#kernel/completion/normalize-chunk.ts";
import type { ChatFacts } from "./chat-access.ts";
import type { MessagePictures } from "../service.ts";

// What the server knows besides a request that is answered over HTTP (contract §3.2, step 4).

/** The folder whose prompt counts: that of the stored chat, or the one that the request names. */
export function folderOf(request: CompletionRequest, chat: ChatFacts | undefined): string | undefined {
  const named = request["folder_id"];
  return chat?.folderId ?? (typeof named === "string" ? named : undefined);
}

/** The request with the variables that are stored with its chat; those that were sent win. */
export function inChat(request: CompletionRequest, chat: ChatFacts | undefined): CompletionRequest {
  const sent = request["chat_variables"];
  return chat === undefined || Object.keys(chat.variables).length === 0
    ? request
    : { ...request, chat_variables: { ...chat.variables, ...(isObject(sent) ? sent : {}) } };
}

/** The request with the pictures that are files here; contents that are texts have none. */
export async function withPictures(
  request: CompletionRequest,
  principal: Principal,
  [pictures]: readonly MessagePictures[],
): Promise<CompletionRequest> {
  if (pictures === undefined || !request.messages.some(({ content }) => Array.isArray(content))) {
    return request;
  }
  const messages = await pictures.inline(request.messages, principal);
  return messages === request.messages ? request : { ...request, messages: [...messages] };
}
