import type { CompletionRequest } from "#kernel/completion/request.ts";
import { toConversation } from "./to-messages.ts";
import { toVendorTools } from "./to-tools.ts";

/** What the model is to read of a request, without what steers its answer. Throws `invalid`, which names the place. */
export function toPrompt(request: CompletionRequest): Record<string, unknown> {
  const { system, messages } = toConversation(request.messages);
  return { ...(system.length > 0 && { system }), messages, ...toVendorTools(request) };
}
