import type { ExplainedResource } from "#plugins/accounts/service.ts";
import { resourceType, type ToolParts } from "../parts.ts";
import { findTool } from "./tool-store.ts";

/** Tells administrators why somebody can use a tool. */
export function explainTools({ db, tools, access }: ToolParts): ExplainedResource {
  return {
    kind: "tool",
    grantType: resourceType,
    async find(_asker, id) {
      const row = await findTool(db, id);
      return row && { id, name: row.name, ownerId: row.user_id };
    },
    may: async (principal, id, permission) => (await tools.find(principal, id, permission)) !== undefined,
    others: async (principal) =>
      access.passes(principal)
        ? [
            { rule: "administrator", permission: "read" },
            { rule: "administrator", permission: "write" },
          ]
        : [],
  };
}
