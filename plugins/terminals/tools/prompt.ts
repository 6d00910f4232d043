import type { PromptSource } from "#plugins/completions/service.ts";
import type { Documents } from "../connections/documents.ts";
import { requirePlace, type Terminals, toSavedChat } from "../connections/terminals.ts";

/** Adds what a terminal says about itself to the system prompt (contract §5.3); one that is away adds nothing. */
export function createPromptSource(parts: {
  readonly terminals: Terminals;
  readonly documents: Documents;
}): PromptSource {
  return {
    async prompt({ principal, terminalId, chatId: chat }) {
      if (!terminalId) {
        return undefined;
      }
      try {
        const chatId = toSavedChat(chat);
        const terminal = parts.terminals.require(principal, terminalId);
        requirePlace(terminal, { chatId });
        return (await parts.documents.read(terminal, { principal, chatId })).prompt;
      } catch {
        return undefined;
      }
    },
  };
}
