import type { ExplainedResource } from "#plugins/accounts/service.ts";
import type { KnowledgeParts } from "../parts.ts";
import { resourceType } from "../tables.ts";
import { findCollection } from "./collection-store.ts";

/** Tells administrators why somebody can see a collection. */
export function explainCollections({ db, collections, access }: KnowledgeParts): ExplainedResource {
  return {
    kind: "knowledge",
    grantType: resourceType,
    async find(_asker, id) {
      const row = await findCollection(db, id);
      return row && { id, name: row.name, ownerId: row.user_id };
    },
    may: async (principal, id, permission) =>
      (await collections.find(principal, id, permission)) !== undefined,
    others: async (principal) =>
      access.passes(principal)
        ? [
            { rule: "administrator", permission: "read" },
            { rule: "administrator", permission: "write" },
          ]
        : [],
  };
}
