import type { Egress } from "#kernel/egress/egress.ts";
import type { TerminalAccess } from "#plugins/completions/service.ts";
import type { Documents } from "./connections/documents.ts";
import { requirePlace, type Terminals, toCaller } from "./connections/terminals.ts";
import { ask, requireGood } from "./connections/upstream.ts";
import { toAddress } from "./proxy/address.ts";

const timeoutMs = 10_000;

/**
 * Lets runs use terminals: rights and place first, and only then is the server asked whether it is there. Core API, chat
 * completion rule 13; security case S55.
 */
export function createAdmission(parts: {
  readonly terminals: Terminals;
  readonly documents: Documents;
  readonly egress: Egress;
}): TerminalAccess {
  const { terminals, documents, egress } = parts;
  return {
    async require(principal, id, chatId) {
      const terminal = terminals.require(principal, id);
      await documents.readLive(terminal, toCaller(terminal, { principal, chatId }));
    },

    requireForAutomation(principal, id) {
      requirePlace(terminals.require(principal, id), { chatId: undefined, automationId: "" });
    },

    async enter(principal, id, { chatId, directory }) {
      const terminal = terminals.require(principal, id);
      const caller = toCaller(terminal, { principal, chatId });
      const question = { method: "POST", url: toAddress(terminal, "files/cwd"), body: { path: directory } };
      const answer = await ask(egress, terminal, { ...question, caller, timeoutMs });
      requireGood(answer, `The terminal cannot work in ${directory}: it`);
    },
  };
}
