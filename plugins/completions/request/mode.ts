import type { CompletionRequest } from "#kernel/completion/request.ts";

type Asked = Pick<
  CompletionRequest,
  "chat_id" | "id" | "session_id" | "stream" | "tools" | "tool_ids" | "params"
> & {
  readonly parent_id?: unknown;
  readonly message_ids?: unknown;
  readonly assistant_message_id?: unknown;
};

/**
 * Where a completion goes: to the caller over HTTP, or into a chat while the server runs it. `attached` runs keep the
 * caller waiting. Core API, chat completion rules 1, 14 and 15; contract D.16.
 */
export type Delivery = "http" | "chat" | "chat-attached" | "new-chat";

/**
 * Who finds and runs tools. `caller`: the request's own definitions, forwarded as they are. `legacy`: a task model
 * chooses once. `native`: the loop of a chat-bound run. `unexecuted`: those of `tool_ids` are offered, and calls go
 * back to the caller. Core API, chat completion rules 2 to 5.
 */
export type ToolMode = "caller" | "legacy" | "native" | "unexecuted" | "none";

/** Where the completion goes; the stream of the request counts, whatever the model's Stream Chat Response says. */
export function toDelivery({
  chat_id: chatId,
  id,
  session_id: sessionId,
  stream,
  parent_id: parentId,
  message_ids: fanOut,
  assistant_message_id: continued,
}: Asked): Delivery {
  if (stream !== true) {
    return "http";
  }
  const namesMessage = Boolean(id || continued || (Array.isArray(fanOut) && fanOut.length > 0));
  if (chatId && namesMessage) {
    return sessionId ? "chat" : "chat-attached";
  }
  return parentId === null && !chatId && sessionId ? "new-chat" : "http";
}

/** Who finds and runs tools; `saved` is the model's own `function_calling`, which the request overrides. */
export function toToolMode(request: Asked, saved: unknown): ToolMode {
  if (request.tools !== undefined) {
    return "caller";
  }
  const hasIds = request.tool_ids !== undefined && request.tool_ids !== null;
  if ((request.params?.["function_calling"] ?? saved) === "legacy") {
    return hasIds ? "legacy" : "none";
  }
  if (toDelivery(request) !== "http") {
    return "native";
  }
  return hasIds ? "unexecuted" : "none";
}
