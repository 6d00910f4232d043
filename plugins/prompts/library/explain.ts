import type { ExplainedResource } from "#plugins/accounts/service.ts";
import type { PromptParts } from "../parts.ts";
import { resourceType } from "../tables.ts";
import { findPrompt } from "./prompt-store.ts";

/** Tells administrators why somebody can use a prompt. */
export function explainPrompts({ db, prompts, access }: PromptParts): ExplainedResource {
  return {
    kind: "prompt",
    grantType: resourceType,
    async find(_asker, id) {
      const row = await findPrompt(db, id);
      return row && { id, name: row.name, ownerId: row.user_id };
    },
    may: async (principal, id, permission) => (await prompts.find(principal, id, permission)) !== undefined,
    others: async (principal) =>
      access.passes(principal)
        ? (["read", "write"] as const).map((permission) => ({ rule: "administrator", permission }))
        : [],
  };
}
