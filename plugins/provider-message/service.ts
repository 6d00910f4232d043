import type { CompletionRequest } from "#kernel/completion/request.ts";
import { defineService } from "#kernel/service.ts";

/** The vendor's message format, for whoever holds requests in the common one. */
export interface MessageFormat {
  /**
   * What a model is to read of a request: instructions, conversation and tools. Throws `invalid`, which names the place,
   * for what has no counterpart.
   */
  toPrompt(request: CompletionRequest): Readonly<Record<string, unknown>>;
}

export const messageFormat = defineService<MessageFormat>("message.format");
