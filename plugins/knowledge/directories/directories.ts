import type { Principal } from "#kernel/access/principal.ts";
import { AppError } from "#kernel/errors.ts";
import { touchCollection } from "../collections/collection-store.ts";
import type { Linking } from "../files/linking.ts";
import { moveLinks } from "../files/link-store.ts";
import { announce, type KnowledgeParts } from "../parts.ts";
import type { KnowledgeDatabase } from "../tables.ts";
import {
  deleteDirectories,
  type DirectoryRow,
  filesIn,
  findDirectory,
  findNamed,
  findPath,
  findSubtree,
  insertDirectory,
  lockDirectories,
  requireDirectory,
  updateDirectory,
} from "./directory-store.ts";

/** Directories inside directories; deeper trees are mistakes of scripts. */
const maxDepth = 32;

export type Directories = ReturnType<typeof createDirectories>;

/** The directories of collections (record `knowledge_directory`; contract 6.2). */
export function createDirectories(parts: KnowledgeParts, linking: Linking) {
  const { db, transaction, collections, progress } = parts;
  const tell = (what: "created" | "updated" | "deleted", by: Principal, row: DirectoryRow) => {
    progress.announce(row.knowledge_id);
    announce(parts, `knowledge.directory.${what}`, {
      by,
      id: row.knowledge_id,
      data: { directory_id: row.id, name: row.name, parent_id: row.parent_id },
    });
  };

  return {
    /** Makes a directory. Throws `conflict` for a taken name and `not_found` for a parent of another collection. */
    async create(
      caller: Principal,
      knowledgeId: string,
      { name, parentId }: { name: string; parentId: string | null },
    ): Promise<DirectoryRow> {
      await collections.load(caller, knowledgeId, "write");
      const wanted = { knowledgeId, parentId, userId: caller.userId, name: toName(name) };
      const row = await transaction(async (tx) => {
        await lockDirectories(tx, knowledgeId);
        await requireDepth(tx, knowledgeId, parentId);
        return await insertDirectory(tx, wanted);
      });
      if (row === undefined) {
        throw taken(name);
      }
      await touchCollection(db, knowledgeId);
      tell("created", caller, row);
      return row;
    },

    /** Names a directory anew, or puts it into another one. Throws `invalid` for a place inside itself. */
    async update(
      caller: Principal,
      place: { knowledgeId: string; id: string },
      change: Change,
    ): Promise<DirectoryRow> {
      const { knowledgeId, id } = place;
      await collections.load(caller, knowledgeId, "write");
      const row = await transaction((tx) => changeDirectory(tx, { knowledgeId, id }, change));
      tell("updated", caller, row);
      return row;
    },

    /** Deletes a directory and those inside it; their files move up to its parent, or leave the collection. */
    async remove(
      caller: Principal,
      { knowledgeId, id }: { knowledgeId: string; id: string },
      movesFiles: boolean,
    ): Promise<true> {
      await collections.load(caller, knowledgeId, "write");
      const row = await findDirectory(db, knowledgeId, id);
      if (row === undefined) {
        throw notFound();
      }
      const inside = await findSubtree(db, knowledgeId, [id]);
      if (!movesFiles) {
        await linking.unlink(knowledgeId, await filesIn(db, inside));
      }
      await transaction(async (tx) => {
        await lockDirectories(tx, knowledgeId);
        const ids = await findSubtree(tx, knowledgeId, [id]);
        // What came in meanwhile is kept: nobody asked for it to go.
        await moveLinks(tx, { knowledgeId, fileIds: await filesIn(tx, ids) }, row.parent_id);
        await deleteDirectories(tx, ids);
      });
      await touchCollection(db, knowledgeId);
      tell("deleted", caller, row);
      return true;
    },

    /** The directories of a path, made where they are missing; resolves to the last one's id, null for the root. */
    ensure: (userId: string, knowledgeId: string, path: readonly string[]): Promise<string | null> =>
      transaction((tx) => ensurePath(tx, { userId, knowledgeId, path })),
  };
}

async function ensurePath(
  tx: KnowledgeDatabase,
  { userId, knowledgeId, path }: { userId: string; knowledgeId: string; path: readonly string[] },
): Promise<string | null> {
  await lockDirectories(tx, knowledgeId);
  let parentId: string | null = null;
  for (const part of path.slice(0, maxDepth)) {
    const wanted: Place = { knowledgeId, parentId, name: toName(part) };
    const row: DirectoryRow | undefined =
      (await findNamed(tx, wanted)) ?? (await insertDirectory(tx, { ...wanted, userId }));
    parentId = row?.id ?? parentId;
  }
  return parentId;
}

interface Place {
  readonly knowledgeId: string;
  readonly parentId: string | null;
  readonly name: string;
}

interface Change {
  readonly name?: string | undefined;
  readonly parentId?: string | null | undefined;
}

async function changeDirectory(
  tx: KnowledgeDatabase,
  { knowledgeId, id }: { knowledgeId: string; id: string },
  change: Change,
): Promise<DirectoryRow> {
  await lockDirectories(tx, knowledgeId);
  const before = await findDirectory(tx, knowledgeId, id);
  if (before === undefined) {
    throw notFound();
  }
  const name = change.name === undefined ? before.name : toName(change.name);
  const parentId = change.parentId === undefined ? before.parent_id : change.parentId;
  if (parentId !== null && (await findSubtree(tx, knowledgeId, [id])).includes(parentId)) {
    throw new AppError("invalid", "A directory cannot lie inside itself.");
  }
  await requireDepth(tx, knowledgeId, parentId);
  const other = await findNamed(tx, { knowledgeId, parentId, name });
  if (other !== undefined && other.id !== id) {
    throw taken(name);
  }
  return await updateDirectory(tx, id, { name, parent_id: parentId });
}

async function requireDepth(
  tx: KnowledgeDatabase,
  knowledgeId: string,
  parentId: string | null,
): Promise<void> {
  await requireDirectory(tx, knowledgeId, parentId);
  const depth = parentId === null ? 0 : (await findPath(tx, knowledgeId, parentId)).length;
  if (depth + 1 > maxDepth) {
    throw new AppError("invalid", `Directories lie at most ${maxDepth} deep.`);
  }
}

/** A name is one part of a path and never more (promise S29). Throws `invalid`. */
export function toName(sent: string): string {
  const name = sent
    .toWellFormed()
    .normalize("NFC")
    // oxlint-disable-next-line no-control-regex
    .replace(/[\u0000-\u001f\u007f]/g, "")
    .trim();
  if (name === "" || name === "." || name === ".." || /[/\\]/.test(name)) {
    throw new AppError("invalid", "name: is no name of a directory.");
  }
  return name.slice(0, 255);
}

function taken(name: string): AppError {
  return new AppError("conflict", `There is a directory "${name}" here already.`);
}

function notFound(): AppError {
  return new AppError("not_found", "Directory not found");
}
