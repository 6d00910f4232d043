import type { Principal } from "#kernel/access/principal.ts";
import { AppError } from "#kernel/errors.ts";
import type { FileRecord } from "#plugins/files/service.ts";
import { touchCollection } from "../collections/collection-store.ts";
import { requireDirectory } from "../directories/directory-store.ts";
import { announce, type KnowledgeParts } from "../parts.ts";
import {
  deleteLinks,
  findLinks,
  insertLinks,
  linkedAnywhere,
  type LinkRow,
  moveLinks,
  setStatus,
} from "./link-store.ts";

/** The specified text for a file whose text is not there yet (Core API, Errors). */
export const emptyContent =
  "The content provided is empty. Please ensure that there is text or data present before proceeding.";
export const noText = "No text was found in this file.";

export interface Added {
  readonly added: readonly LinkRow[];
  /** Files that could not be added, with the reason. */
  readonly refused: readonly { readonly file: FileRecord; readonly reason: string }[];
}

/** What people and the server do with the files of a collection. Callers have checked that the collection may be written. */
export interface Linking extends Membership, Changes {
  /**
   * Adds files that the caller owns: what one only reads through a share is not one's own to lend. Throws `not_found`
   * and `forbidden` for files, and then adds none; files without a text are told in `refused`.
   */
  add(
    caller: Principal,
    knowledgeId: string,
    wanted: { fileIds: readonly string[]; directoryId: string | null },
  ): Promise<Added>;
  /** Throws `not_found` unless all of the files lie in the collection (promise S23). */
  require(knowledgeId: string, fileIds: readonly string[]): Promise<LinkRow[]>;
}

export function createLinking(parts: KnowledgeParts): Linking {
  const { db, transaction } = parts;
  const membership = createMembership(parts);

  return {
    ...membership,
    ...createChanges(parts, membership),

    async add(caller, knowledgeId, { fileIds, directoryId }) {
      await requireDirectory(db, knowledgeId, directoryId);
      const records = await loadOwn(parts, caller, [...new Set(fileIds)]);
      const refused = records.flatMap((file) => {
        const reason = toRefusal(file);
        return reason === undefined ? [] : [{ file, reason }];
      });
      const usable = records.filter((file) => toRefusal(file) === undefined);
      const added = await transaction((tx) =>
        insertLinks(tx, { knowledgeId, directoryId, userId: caller.userId, files: usable }),
      );
      await membership.addToIndex(knowledgeId, toFileIds(added));
      if (added.length > 0) {
        await touchCollection(db, knowledgeId);
        tell(parts, "knowledge.file.added", { by: caller, id: knowledgeId, rows: added });
      }
      return { added, refused };
    },

    async require(knowledgeId, fileIds) {
      const wanted = new Set(fileIds);
      const rows = await findLinks(db, knowledgeId, [...wanted]);
      if (rows.length !== wanted.size) {
        throw new AppError("not_found", "Not found");
      }
      return rows;
    },
  };
}

const toFileIds = (rows: readonly LinkRow[]) => rows.map(({ file_id }) => file_id);

type Membership = ReturnType<typeof createMembership>;

function createMembership(parts: KnowledgeParts) {
  const { db, transaction, files, index, progress } = parts;

  return {
    /** Puts processed files into the index; what cannot be told to it now is told by the job that mends. */
    async addToIndex(knowledgeId: string, fileIds: readonly string[]): Promise<void> {
      if (fileIds.length === 0) {
        return;
      }
      try {
        await index?.link(knowledgeId, fileIds);
      } catch (error) {
        parts.log.warn(
          { err: error, collection: knowledgeId },
          "files wait longer to be found, the index did not answer",
        );
        return;
      }
      await setStatus(db, { knowledgeId, fileIds }, { status: "processed" });
      progress.announce(knowledgeId);
    },

    /** Takes files out of the index first: whoever loses them must not find them any more, whatever happens after. */
    async unlink(knowledgeId: string, fileIds: readonly string[]): Promise<void> {
      if (fileIds.length === 0) {
        return;
      }
      await setStatus(db, { knowledgeId, fileIds }, { status: "processing" });
      await index?.unlink(knowledgeId, fileIds);
      await deleteLinks(db, knowledgeId, fileIds);
      await touchCollection(db, knowledgeId);
      progress.announce(knowledgeId);
    },

    /** Deletes files that the caller may delete and that lie in no other collection (promise S27). */
    async deleteFiles(caller: Principal, fileIds: readonly string[]): Promise<void> {
      const kept = await linkedAnywhere(db, fileIds);
      for (const file of await files.list(fileIds.filter((id) => !kept.has(id)))) {
        if (file.user_id === caller.userId || parts.access.passes(caller)) {
          await files.remove(caller, file.id);
        }
      }
    },

    /** Files that are on their way into a collection: they join it when they have been read. */
    async expect(
      userId: string,
      place: { knowledgeId: string; directoryId: string | null },
      file: FileRecord,
    ): Promise<void> {
      await transaction((tx) => insertLinks(tx, { ...place, userId, files: [file] }));
      progress.announce(place.knowledgeId);
    },
  };
}

type Changes = ReturnType<typeof createChanges>;

function createChanges(parts: KnowledgeParts, { unlink, deleteFiles }: Membership) {
  const { db, files, progress } = parts;

  return {
    /** Takes files out of a collection, and deletes them where that is asked for and allowed. */
    async remove(
      caller: Principal,
      knowledgeId: string,
      { rows, deletesFiles }: { rows: readonly LinkRow[]; deletesFiles: boolean },
    ): Promise<void> {
      await unlink(knowledgeId, toFileIds(rows));
      tell(parts, "knowledge.file.removed", { by: caller, id: knowledgeId, rows });
      if (deletesFiles) {
        await deleteFiles(caller, toFileIds(rows));
      }
    },

    /** Reads files anew, such as those that failed. */
    async retry(caller: Principal, knowledgeId: string, rows: readonly LinkRow[]): Promise<void> {
      await setStatus(db, { knowledgeId, fileIds: toFileIds(rows) }, { status: "processing" });
      for (const file of await files.list(toFileIds(rows))) {
        await files.process(file);
      }
      progress.announce(knowledgeId);
      tell(parts, "knowledge.file.updated", { by: caller, id: knowledgeId, rows });
    },

    async move(
      caller: Principal,
      knowledgeId: string,
      { rows, directoryId }: { rows: readonly LinkRow[]; directoryId: string | null },
    ): Promise<void> {
      await requireDirectory(db, knowledgeId, directoryId);
      await moveLinks(db, { knowledgeId, fileIds: toFileIds(rows) }, directoryId);
      progress.announce(knowledgeId);
      tell(parts, "knowledge.file.moved", { by: caller, id: knowledgeId, rows });
    },
  };
}

function tell(
  parts: KnowledgeParts,
  event: `knowledge.file.${"added" | "updated" | "removed" | "moved"}`,
  { by, id, rows }: { by: Principal; id: string; rows: readonly LinkRow[] },
): void {
  for (const { file_id, name, directory_id } of rows) {
    announce(parts, event, { by, id, data: { file_id, name, directory_id } });
  }
}

/** The records of files that the caller owns, or administers. Throws `not_found` and `forbidden` for others. */
async function loadOwn(
  { files, access }: KnowledgeParts,
  caller: Principal,
  ids: readonly string[],
): Promise<FileRecord[]> {
  const found = new Map((await files.list(ids)).map((file) => [file.id, file]));
  for (const id of ids) {
    if (found.get(id)?.user_id !== caller.userId && !(found.has(id) && access.passes(caller))) {
      await files.load(caller, id, "write");
    }
  }
  return ids.map((id) => found.get(id) as FileRecord);
}

/** Why a file cannot be added; undefined for one that can. */
function toRefusal({ data }: FileRecord): string | undefined {
  if (data["status"] === "failed") {
    return `The file could not be read: ${String(data["error"] ?? "unknown")}`;
  }
  return data["status"] === "completed" && data["has_text"] === true ? undefined : emptyContent;
}
