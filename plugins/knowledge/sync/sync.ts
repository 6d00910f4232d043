import type { Principal } from "#kernel/access/principal.ts";
import { AppError } from "#kernel/errors.ts";
import { toName } from "../directories/directories.ts";
import {
  deleteDirectories,
  type DirectoryRow,
  filesIn,
  findSubtree,
  listDirectories,
  lockDirectories,
  requireDirectory,
} from "../directories/directory-store.ts";
import type { Linking } from "../files/linking.ts";
import { type LinkRow, listLinks } from "../files/link-store.ts";
import { announce, type KnowledgeParts } from "../parts.ts";
import type { Manifest } from "../schema.ts";

type Entry = Manifest["manifest"][number];

export type Sync = ReturnType<typeof createSync>;

/** Compares a folder of a client with a collection, and takes away what is gone (contract 6.2). */
export function createSync(parts: KnowledgeParts, linking: Linking) {
  const { db, transaction, collections } = parts;

  return {
    /** What a client has to upload, make and clean up so that the collection holds what its folder does. */
    async diff(caller: Principal, knowledgeId: string, { manifest, directory_id: root = null }: Manifest) {
      await collections.load(caller, knowledgeId, "write");
      await requireDirectory(db, knowledgeId, root);
      const paths = toPaths(await listDirectories(db, knowledgeId), root);
      const rows = (await listLinks(db, knowledgeId)).filter(
        ({ directory_id: id }) => id === root || (id !== null && paths.has(id)),
      );
      const pathOf = (row: LinkRow) =>
        row.directory_id === root ? "" : (paths.get(row.directory_id ?? "") ?? "");
      const byPlace = new Map(rows.map((row) => [toKey(pathOf(row), row.name), row]));
      const entries = manifest.map(normalise);
      const wanted = new Map(entries.map((entry) => [toKey(entry.path, entry.filename), entry]));
      const states = [...wanted].map(([key, entry]) => ({ entry, row: byPlace.get(key) }));
      const isSame = ({ entry, row }: (typeof states)[number]) =>
        row?.hash?.toLowerCase() === entry.checksum.toLowerCase();
      const needed = new Set(
        entries.flatMap(({ path }) => parentsOf(path)).map((path) => path.toLowerCase()),
      );
      const known = new Map([...paths].map(([id, path]) => [path.toLowerCase(), id]));
      return {
        added: states.filter(({ row }) => row === undefined).map(({ entry }) => entry),
        modified: states.flatMap((state) =>
          state.row === undefined || isSame(state) ? [] : [{ ...state.entry, file_id: state.row.file_id }],
        ),
        deleted: [...byPlace]
          .filter(([key]) => !wanted.has(key))
          .map(([, row]) => ({ file_id: row.file_id, path: pathOf(row), filename: row.name })),
        mkdir: [...new Set(entries.flatMap(({ path }) => parentsOf(path)))].filter(
          (path) => !known.has(path.toLowerCase()),
        ),
        rmdir: [...paths]
          .filter(([, path]) => !needed.has(path.toLowerCase()))
          .map(([id, path]) => ({ id, path }))
          .toSorted((a, b) => b.path.length - a.path.length),
        unmodified_count: states.filter((state) => state.row !== undefined && isSame(state)).length,
        directory_map: Object.fromEntries([...paths].map(([id, path]) => [path, id])),
      };
    },

    /** Takes files and empty directories away. Throws `not_found`, and does nothing, when one is of another collection. */
    async cleanup(
      caller: Principal,
      knowledgeId: string,
      { fileIds, directoryIds }: { fileIds: readonly string[]; directoryIds: readonly string[] },
    ): Promise<true> {
      await collections.load(caller, knowledgeId, "write");
      const rows = await linking.require(knowledgeId, fileIds);
      const known = new Map((await listDirectories(db, knowledgeId)).map((row) => [row.id, row]));
      if (directoryIds.some((id) => !known.has(id))) {
        throw new AppError("not_found", "Not found");
      }
      await linking.remove(caller, knowledgeId, { rows, deletesFiles: true });
      const removed = await transaction(async (tx) => {
        await lockDirectories(tx, knowledgeId);
        const empty: string[] = [];
        for (const id of directoryIds) {
          const inside = await findSubtree(tx, knowledgeId, [id]);
          if ((await filesIn(tx, inside)).length === 0) {
            empty.push(...inside);
          }
        }
        await deleteDirectories(tx, empty);
        return empty;
      });
      for (const id of removed) {
        announce(parts, "knowledge.directory.deleted", {
          by: caller,
          id: knowledgeId,
          data: { directory_id: id, name: known.get(id)?.name ?? null },
        });
      }
      return true;
    },
  };
}

/** The path of each directory below `root`, by id. */
function toPaths(rows: readonly DirectoryRow[], root: string | null): Map<string, string> {
  const children = Map.groupBy(rows, (row) => row.parent_id);
  const paths = new Map<string, string>();
  const visit = (parent: string | null, prefix: string) => {
    for (const { id, name } of children.get(parent) ?? []) {
      paths.set(id, prefix + name);
      visit(id, `${prefix}${name}/`);
    }
  };
  visit(root, "");
  return paths;
}

/** Clients send the folder alone, or the folder with the file's name at its end. Throws `invalid` for what is no path. */
function normalise(entry: Entry): Entry {
  const parts = entry.path.split("/").filter((part) => part !== "" && part !== ".");
  const folder = parts.at(-1) === entry.filename ? parts.slice(0, -1) : parts;
  return { ...entry, path: folder.map(toName).join("/") };
}

/** A path and those above it, from the outermost. */
function parentsOf(path: string): string[] {
  const parts = path === "" ? [] : path.split("/");
  return parts.map((_part, at) => parts.slice(0, at + 1).join("/"));
}

function toKey(path: string, name: string): string {
  return `${path.toLowerCase()}/${name}`;
}
