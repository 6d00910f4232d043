import type { TerminalAccess } from "#plugins/completions/service.ts";
import type { Documents } from "./connections/documents.ts";
import { requirePlace, requireShared, type Terminals, toSavedChat } from "./connections/terminals.ts";

/**
 * Lets runs use terminals: rights and place first, and only then is the server asked whether it is there. Core API, chat
 * completion rule 13; security case S55.
 */
export function createAdmission(parts: {
  readonly terminals: Terminals;
  readonly documents: Documents;
}): TerminalAccess {
  return {
    async require(principal, id, chat) {
      const terminal = parts.terminals.require(principal, id);
      const chatId = toSavedChat(chat);
      requirePlace(terminal, { chatId });
      await parts.documents.read(terminal, { principal, chatId });
    },

    requireForAutomation(principal, id) {
      requireShared(parts.terminals.require(principal, id));
    },
  };
}
