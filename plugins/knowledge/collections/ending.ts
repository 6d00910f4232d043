import type { Principal } from "#kernel/access/principal.ts";
import { AppError } from "#kernel/errors.ts";
import { deleteDirectories, listUnused } from "../directories/directory-store.ts";
import type { Linking } from "../files/linking.ts";
import { listLinks } from "../files/link-store.ts";
import { announce, type KnowledgeParts } from "../parts.ts";
import { type CollectionRow, resourceType } from "../tables.ts";
import { deleteCollections, findCollection, touchCollection } from "./collection-store.ts";
import { type CollectionRecord, showCollection, toEntry } from "./record.ts";

/** The end of collections and of what lies in them: their owners' and administrators' to decide. */
export function createEnding(parts: KnowledgeParts, linking: Linking) {
  const { db, transaction } = parts;
  const end = (rows: readonly CollectionRow[]) => endCollections(parts, rows);

  return {
    end,

    /** Deletes a collection; its files stay unless they are to go, are the caller's, and lie in no other collection. */
    async remove(caller: Principal, id: string, deletesFiles: boolean): Promise<true> {
      const row = await loadOwned(parts, caller, id);
      const fileIds = await end([row]);
      announce(parts, "knowledge.deleted", { by: caller, id, data: { name: row.name } });
      if (deletesFiles) {
        await linking.deleteFiles(caller, fileIds);
      }
      return true;
    },

    /** Empties a collection: files and directories leave it, and the files stay with their owners. */
    async reset(caller: Principal, id: string): Promise<CollectionRecord> {
      const row = await loadOwned(parts, caller, id);
      const ids = (await listLinks(db, id)).map(({ file_id }) => file_id);
      await linking.unlink(id, ids);
      await transaction(async (tx) => {
        // A file that came in meanwhile keeps its directory.
        await deleteDirectories(tx, await listUnused(tx, id));
        await parts.record(toEntry("reset", { before: row, after: row, files: ids.length }), tx);
      });
      await touchCollection(db, id);
      announce(parts, "knowledge.reset", { by: caller, id });
      return await showCollection(parts, caller, (await findCollection(db, id)) ?? row);
    },

    /** Ends the collections of an account that is gone. */
    async removeAllOf(userId: string): Promise<void> {
      await end(await db.selectFrom("knowledge").selectAll().where("user_id", "=", userId).execute());
    },
  };
}

/** Owners and administrators: editors add and remove files and end nothing. */
async function loadOwned(
  { collections, access }: KnowledgeParts,
  caller: Principal,
  id: string,
): Promise<CollectionRow> {
  const row = await collections.load(caller, id, "read");
  if (row.user_id !== caller.userId && !access.passes(caller)) {
    throw new AppError("forbidden", "Only the owner of this collection may do that.");
  }
  return row;
}

/** Ends collections: the index first, so that nobody finds what is about to go. Resolves to the ids of their files. */
async function endCollections(parts: KnowledgeParts, rows: readonly CollectionRow[]): Promise<string[]> {
  const { db, transaction, grants, index } = parts;
  const fileIds: string[] = [];
  for (const row of rows) {
    const links = await listLinks(db, row.id);
    fileIds.push(...links.map(({ file_id }) => file_id));
    await index?.drop(row.id);
    await transaction(async (tx) => {
      await deleteCollections(tx, [row.id]);
      await grants.forget(tx, resourceType, [row.id]);
      await parts.record(toEntry("deleted", { before: row, files: links.length }), tx);
    });
    // A file may have joined between the two steps; its collection must not stay behind in the index.
    await index?.drop(row.id);
    parts.progress.announce(row.id);
  }
  return fileIds;
}
