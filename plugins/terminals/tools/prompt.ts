import type { PromptSource } from "#plugins/completions/service.ts";
import type { Documents } from "../connections/documents.ts";
import { type Terminals, toCaller } from "../connections/terminals.ts";

/** Adds what a terminal says about itself to the system prompt (contract §5.3); one that is away adds nothing. */
export function createPromptSource(parts: {
  readonly terminals: Terminals;
  readonly documents: Documents;
}): PromptSource {
  return {
    async prompt({ principal, terminalId, chatId }) {
      if (!terminalId) {
        return undefined;
      }
      try {
        const terminal = parts.terminals.require(principal, terminalId);
        return (await parts.documents.read(terminal, toCaller(terminal, { principal, chatId }))).prompt;
      } catch {
        return undefined;
      }
    },
  };
}
