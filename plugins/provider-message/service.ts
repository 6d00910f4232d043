import type { CompletionRequest } from "#kernel/completion/request.ts";
import { defineService } from "#kernel/service.ts";

/** Translates requests of the common format into the vendor's. */
export interface MessageFormat {
  /**
   * The parts of a request that a model reads: instructions, conversation and tools. Throws `invalid`, which names the
   * place, for a part without counterpart.
   */
  toPrompt(request: CompletionRequest): Readonly<Record<string, unknown>>;
}

export const messageFormat = defineService<MessageFormat>("message.format");
