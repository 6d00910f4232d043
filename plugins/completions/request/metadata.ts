import { asObject, toObject } from "#config/json-values.ts";
import type { CompletionRequest } from "#kernel/completion/request.ts";
import type { Principal } from "#kernel/access/principal.ts";

/** Where a call belongs. */
export interface CallPlace {
  readonly principal: Pick<Principal, "userId">;
  readonly chatId?: string | undefined;
  readonly messageId?: string | undefined;
  readonly sessionId?: string | undefined;
  /** The background task that the call is for. */
  readonly task?: string | undefined;
}

/**
 * What those who look into a run from outside find in `metadata` (contract §3.2): the notes of the request, and the
 * facts of the run, which no note of the same name overrules. Settings of the caller's own tool servers stay out: they
 * hold keys.
 */
export function toMetadata(
  request: CompletionRequest,
  { principal, chatId, messageId, sessionId, task }: CallPlace,
): Record<string, unknown> {
  const userMessage = asObject(request["user_message"] ?? request["parent_message"]);
  return {
    ...request.metadata,
    user_id: principal.userId,
    chat_id: chatId ?? "",
    message_id: messageId ?? null,
    session_id: sessionId ?? null,
    user_message: userMessage ?? null,
    user_message_id: userMessage?.["id"] ?? null,
    assistant_message_id: request["assistant_message_id"] ?? null,
    folder_id: request["folder_id"] ?? null,
    filter_ids: request.filter_ids ?? [],
    tool_ids: request.tool_ids ?? [],
    skill_ids: request["skill_ids"] ?? [],
    terminal_id: request.terminal_id ?? null,
    files: request.files ?? [],
    features: request.features ?? {},
    variables: request.variables ?? {},
    chat_variables: toObject(request["chat_variables"]),
    params: request.params ?? {},
    direct: request.model_item?.["direct"] === true,
    ...(task !== undefined && { task }),
  };
}
