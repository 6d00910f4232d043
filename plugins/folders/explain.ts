import type { ExplainedResource } from "#plugins/accounts/service.ts";
import { type FolderParts, resourceType } from "./parts.ts";
import { findFolder } from "./store.ts";

/** Tells administrators why somebody can see a folder: ownership and grants alone decide. */
export function explainFolders({ db, folders }: Pick<FolderParts, "db" | "folders">): ExplainedResource {
  return {
    kind: "folder",
    grantType: resourceType,
    async find(asker, id) {
      const row = await findFolder(db, id);
      const isShown = (await folders.find(asker, id, "read")) !== undefined;
      return row && { id: row.id, name: isShown ? row.name : row.id, ownerId: row.user_id };
    },
    may: async (principal, id, permission) => (await folders.find(principal, id, permission)) !== undefined,
    others: () => Promise.resolve([]),
  };
}
