import type { ToolRun } from "#kernel/tools/tool.ts";
import type { CapturedRequest } from "./service.ts";

/** Keys that belong to the one message that was sent, or to the client that sent it. */
const ofOneMessage = new Set([
  "messages",
  "chat_id",
  "id",
  "parent_id",
  "session_id",
  "user_message",
  "parent_message",
  "message_ids",
  "assistant_message_id",
  "regeneration_prompt",
  "folder_id",
  "background_tasks",
  "model_item",
  "tool_servers",
  "tools",
  "tool_choice",
  "stream",
  "stream_options",
  "metadata",
  "files",
]);

/** The request that later replies of the chat are asked with. */
export function captureRequest({ asked }: Pick<ToolRun, "asked">): CapturedRequest {
  const [first] = asked.messages;
  const kept = Object.fromEntries(
    Object.entries(asked).filter(([key, value]) => !ofOneMessage.has(key) && value !== undefined),
  );
  return {
    ...kept,
    model: asked.model,
    ...(first?.role === "system" && typeof first.content === "string" && { system: first.content }),
  };
}
