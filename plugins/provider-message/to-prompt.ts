import type { CompletionRequest } from "#kernel/completion/request.ts";
import { toConversation } from "./to-messages.ts";
import { toVendorTools } from "./to-tools.ts";

/** The parts of a request that the model reads, without parameters. Throws `invalid`, which names the place. */
export function toPrompt(request: CompletionRequest): Record<string, unknown> {
  const { system, messages } = toConversation(request.messages);
  return { ...(system.length > 0 && { system }), messages, ...toVendorTools(request) };
}
