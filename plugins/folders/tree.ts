import { hasPermission } from "#kernel/access/permissions.ts";
import type { Principal } from "#kernel/access/principal.ts";
import { AppError } from "#kernel/errors.ts";
import { found, loadOwn, withFreeName } from "./folders.ts";
import { announce, type FolderParts, resourceType } from "./parts.ts";
import {
  deleteFolders,
  findFolder,
  findPath,
  findSubtree,
  lockFolder,
  lockTree,
  setParent,
} from "./store.ts";
import { show, type ShownFolder } from "./view.ts";

export type FolderTree = ReturnType<typeof createFolderTree>;

/** What people do with folders and all that lies inside them. */
export function createFolderTree(parts: FolderParts) {
  const { db, transaction, events, chats, grants } = parts;

  return {
    /**
     * Puts a folder into another one, or to the root with null. Throws `invalid` for itself and what lies inside it
     * (promise S9) and for a taken name, `not_found` for a parent that is not the caller's.
     */
    async move(caller: Principal, id: string, parentId: string | null): Promise<ShownFolder> {
      const { name } = await loadOwn(parts, caller, id);
      await withFreeName(name, () =>
        transaction(async (tx) => {
          await lockTree(tx, caller.userId);
          found(await lockFolder(tx, id));
          const path = parentId === null ? [] : await findPath(tx, caller.userId, parentId);
          if (parentId !== null && path.length === 0) {
            throw new AppError("not_found", "Parent folder not found");
          }
          if (path.includes(id)) {
            throw new AppError("invalid", "A folder cannot lie inside itself.");
          }
          await setParent(tx, id, parentId);
        }),
      );
      announce(events, "folder.parent_updated", { by: caller, id, data: { parent_id: parentId } });
      return await show(parts, caller, found(await findFolder(db, id)));
    },

    /**
     * Deletes a folder and the folders inside it; the chats in them too, or they end up in no folder. Throws
     * `forbidden` when chats shall go and the caller may not delete chats.
     */
    async remove(caller: Principal, id: string, withContents: boolean): Promise<void> {
      await loadOwn(parts, caller, id);
      if (withContents && !hasPermission(caller, "chat.delete")) {
        throw new AppError("forbidden", "You may not delete chats. Keep them with delete_contents=false.");
      }
      const removed = await transaction(async (tx) => {
        await lockTree(tx, caller.userId);
        found(await lockFolder(tx, id));
        const ids = await findSubtree(tx, [id]);
        const told = withContents ? await chats.remove(tx, ids) : undefined;
        await deleteFolders(tx, ids);
        await grants.forget(tx, resourceType, ids);
        return { ids, told };
      });
      removed.told?.(caller);
      for (const one of removed.ids) {
        announce(events, "folder.deleted", {
          by: caller,
          id: one,
          data: { delete_contents: withContents },
        });
      }
    },
  };
}
