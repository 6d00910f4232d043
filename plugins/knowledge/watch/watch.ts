import { isAbsolute } from "node:path";
import type { Principal } from "#kernel/access/principal.ts";
import { seconds } from "#storage/clock.ts";
import { findCollection, insertCollection } from "../collections/collection-store.ts";
import type { Directories } from "../directories/directories.ts";
import type { Linking } from "../files/linking.ts";
import { findLinks } from "../files/link-store.ts";
import { announce, type KnowledgeParts } from "../parts.ts";
import type { CollectionRow } from "../tables.ts";
import { type FolderFile, hashFile, maxFiles, openFile, readFolder } from "./read-folder.ts";
import {
  forgetWatched,
  keepStates,
  listWatched,
  saveState,
  saveWatched,
  type WatchedFile,
} from "./watch-store.ts";

/** A folder of the server and the collection that is kept in step with it. */
export interface WatchedFolder {
  readonly folder: string;
  /** Id or name. */
  readonly collection: string;
}

/** Reads KNOWLEDGE_WATCH: `folder=collection`, separated by semicolons. Entries that are none are left out. */
export function parseWatched(text: string): WatchedFolder[] {
  return text.split(";").flatMap((entry) => {
    const at = entry.lastIndexOf("=");
    const [folder, collection] = [entry.slice(0, at).trim(), entry.slice(at + 1).trim()];
    return at > 0 && isAbsolute(folder) && collection !== "" ? [{ folder, collection }] : [];
  });
}

export interface WatchParts {
  readonly parts: KnowledgeParts;
  readonly linking: Linking;
  readonly directories: Directories;
}

/** One look at every watched folder; one that fails keeps nothing from the others. */
export async function lookAtFolders(
  watch: WatchParts,
  watched: readonly WatchedFolder[],
  signal: AbortSignal,
): Promise<void> {
  const { db, log } = watch.parts;
  const ids: string[] = [];
  for (const each of watched) {
    signal.throwIfAborted();
    const row = await findOrMake(watch.parts, each.collection);
    const owner = row && (await watch.parts.accounts.principalOf(row.user_id));
    if (row === undefined || owner === undefined) {
      log.warn({ collection: each.collection }, "a watched folder waits for an administrator's account");
      continue;
    }
    ids.push(row.id);
    await look(watch, { row, owner, folder: each.folder }, signal);
  }
  await keepStates(db, ids);
}

/** The collection of that id or name; a new one of the first administrator's where there is none. */
async function findOrMake(parts: KnowledgeParts, named: string): Promise<CollectionRow | undefined> {
  const { db, transaction } = parts;
  const found =
    (await findCollection(db, named)) ??
    (await db
      .selectFrom("knowledge")
      .selectAll("knowledge")
      .innerJoin("user", "user.id", "knowledge.user_id")
      .where("knowledge.name", "=", named)
      // A member's collection of the same name is not meant: what the server reads belongs to those who run it.
      .where("user.role", "=", "admin")
      .orderBy("knowledge.created_at")
      .limit(1)
      .executeTakeFirst());
  if (found !== undefined) {
    return found;
  }
  const admin = await db
    .selectFrom("user")
    .select("id")
    .where("role", "=", "admin")
    .orderBy("created_at")
    .limit(1)
    .executeTakeFirst();
  if (admin === undefined) {
    return undefined;
  }
  const row = await transaction((tx) =>
    insertCollection(tx, { userId: admin.id, name: named, description: "" }),
  );
  announce(parts, "knowledge.created", { by: null, id: row.id, data: { name: row.name } });
  return row;
}

interface Look {
  readonly row: CollectionRow;
  readonly owner: Principal;
  readonly folder: string;
}

async function look(watch: WatchParts, place: Look, signal: AbortSignal): Promise<void> {
  const { parts } = watch;
  const { row, folder } = place;
  const before = new Map((await listWatched(parts.db, row.id)).map((file) => [file.path, file]));
  const state = { knowledge_id: row.id, folder, looked_at: seconds(), files: before.size, failed: 0 };
  await saveState(parts.db, { ...state, is_running: true, error: null });
  let seen: FolderFile[];
  try {
    seen = [];
    for await (const file of readFolder(folder, signal)) {
      seen.push(file);
    }
  } catch (error) {
    parts.log.warn({ err: error, folder }, "a watched folder could not be read");
    // What was read from it stays: a disk that is away for a moment is no order to delete.
    await saveState(parts.db, { ...state, is_running: false, error: "The folder cannot be read." });
    return;
  }
  const error = toObjection(seen, before.size);
  let failed = 0;
  if (error === undefined) {
    for (const file of seen) {
      signal.throwIfAborted();
      failed += (await readOne(watch, place, { file, known: before.get(file.path), signal })) ? 0 : 1;
    }
    const paths = new Set(seen.map(({ path }) => path));
    for (const gone of [...before.values()].filter(({ path }) => !paths.has(path))) {
      await takeOut(watch, place, gone.file_id);
      await forgetWatched(parts.db, row.id, gone.path);
    }
  }
  const files = error === undefined ? seen.length : before.size;
  await saveState(parts.db, { ...state, files, failed, is_running: false, error: error ?? null });
  parts.progress.announce(row.id);
}

function toObjection(seen: readonly FolderFile[], before: number): string | undefined {
  if (seen.length > maxFiles) {
    return `The folder holds more than ${maxFiles} files.`;
  }
  // A mount that is missing looks like an empty folder.
  return seen.length === 0 && before > 0
    ? "The folder is empty. What was read from it is kept until it holds a file."
    : undefined;
}

interface Reading {
  readonly file: FolderFile;
  readonly known: WatchedFile | undefined;
  readonly signal: AbortSignal;
}

/** Brings one file up to date; false when it failed, which is noted and tried again at the next look. */
async function readOne(watch: WatchParts, place: Look, { file, known, signal }: Reading): Promise<boolean> {
  const { db, log } = watch.parts;
  const { id } = place.row;
  const facts = { path: file.path, size: file.size, modified_ms: file.modifiedMs };
  const isThere =
    known?.file_id !== null &&
    known?.file_id !== undefined &&
    (await findLinks(db, id, [known.file_id])).length > 0;
  if (isThere && known.size === file.size && known.modified_ms === file.modifiedMs) {
    return true;
  }
  try {
    const hash = await hashFile(file, signal);
    if (isThere && known.hash === hash) {
      await saveWatched(db, id, { ...known, ...facts, error: null });
      return true;
    }
    const fileId = await bringIn(watch, place, file);
    await saveWatched(db, id, { ...facts, file_id: fileId, hash, error: null });
    await takeOut(watch, place, known?.file_id ?? null);
    return true;
  } catch (error) {
    signal.throwIfAborted();
    log.warn({ err: error, path: file.path }, "a file of a watched folder could not be read");
    const kept = { file_id: known?.file_id ?? null, hash: null };
    await saveWatched(db, id, { ...facts, ...kept, error: "The file cannot be read." });
    return false;
  }
}

async function bringIn({ parts, linking, directories }: WatchParts, place: Look, file: FolderFile) {
  const { row, owner } = place;
  const names = file.path.split("/");
  const filename = names.pop() ?? file.path;
  const directoryId = await directories.ensure(owner.userId, row.id, names);
  const handle = await openFile(file);
  const stored = await parts.files.create(owner, {
    filename,
    contentType: "",
    bytes: handle.createReadStream(),
  });
  await linking.expect(owner.userId, { knowledgeId: row.id, directoryId }, stored);
  await parts.files.process(stored);
  return stored.id;
}

/** A file that the folder no longer holds leaves the collection, and goes where it lies in no other one. */
async function takeOut({ parts, linking }: WatchParts, { row, owner }: Look, fileId: string | null) {
  if (fileId !== null) {
    const rows = await findLinks(parts.db, row.id, [fileId]);
    await linking.remove(owner, row.id, { rows, deletesFiles: rows.length > 0 });
  }
}
