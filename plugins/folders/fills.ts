import { type SqlBool, sql } from "kysely";
import { hasPermission } from "#kernel/access/permissions.ts";
import type { Principal } from "#kernel/access/principal.ts";
import { AppError } from "#kernel/errors.ts";
import { granted } from "#storage/grants.ts";
import type { ChatFolders } from "#plugins/chats/service.ts";
import type { PromptSource } from "#plugins/completions/service.ts";
import type { FileReferences } from "#plugins/files/service.ts";
import { readableKnowledge } from "./knowledge.ts";
import { type FolderParts, resourceType } from "./parts.ts";
import type { Folders } from "./service.ts";
import { findNamed, findSubtree } from "./store.ts";

/** True where the caller may use folders now. What the plugin does for others has to ask: only its routes are switched off for it. */
export type IsOpen = (principal: Principal) => boolean;

export function createIsOpen(isEnabled: () => boolean): IsOpen {
  return (principal) => isEnabled() && hasPermission(principal, "features.folders");
}

/** What chats know of folders. */
export function toChatFolders({ db, folders }: FolderParts, isOpen: IsOpen): ChatFolders {
  return {
    isOpen,
    find: async (principal, id) =>
      isOpen(principal) ? await folders.find(principal, id, "read") : undefined,
    async named(principal, text) {
      const ids = isOpen(principal) ? await findNamed(db, principal.userId, text) : [];
      return ids.length === 0 ? [] : await findSubtree(db, ids);
    },
  };
}

/** The folder's prompt for runs in it: of those who may read the folder when the run begins. */
export function toPromptSource({ folders }: FolderParts, isOpen: IsOpen): PromptSource {
  return {
    async prompt({ principal, folderId, isFolderNamed }) {
      if (folderId === undefined) {
        return undefined;
      }
      const folder = isOpen(principal) ? await folders.find(principal, folderId, "read") : undefined;
      if (folder === undefined && isFolderNamed) {
        throw new AppError("not_found", "Folder not found");
      }
      const prompt = folder?.data["system_prompt"];
      return typeof prompt === "string" && prompt.trim() !== "" ? prompt : undefined;
    },
  };
}

/** Readers of a folder may read the files it lends, as far as they are its owner's (compare promise S17). */
export function toFileReference({ db, files }: FolderParts, isOpen: IsOpen): FileReferences {
  return {
    id: "folders",
    async isReachable(principal, fileId, action) {
      const owner =
        action === "read" && isOpen(principal) ? (await files.owners([fileId])).get(fileId) : undefined;
      if (owner === undefined) {
        return false;
      }
      const item = JSON.stringify([{ type: "file", id: fileId }]);
      const row = await db
        .selectFrom("folder")
        .select("id")
        .where("user_id", "=", owner)
        .where(sql<SqlBool>`data -> 'files' @> cast(${item} as jsonb)`)
        .where((eb) => granted(eb, resourceType, "folder.id", principal, "read"))
        .limit(1)
        .executeTakeFirst();
      return row !== undefined;
    },
  };
}

/** What folders lend to runs. */
export function createFoldersService(parts: FolderParts, isOpen: IsOpen): Folders {
  return {
    async knowledge(principal, folderId) {
      const row = isOpen(principal) ? await parts.folders.find(principal, folderId, "read") : undefined;
      return row === undefined ? [] : await readableKnowledge(parts, principal, row);
    },
  };
}
