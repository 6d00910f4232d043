import type { Principal } from "#kernel/access/principal.ts";
import { granted } from "#storage/grants.ts";
import { countInside, findPath, listDirectories, requireDirectory } from "../directories/directory-store.ts";
import { toContains } from "#storage/values.ts";
import type { KnowledgeParts } from "../parts.ts";
import { type KnowledgeDatabase, resourceType } from "../tables.ts";
import type { FilesQuery } from "../schema.ts";
import { countByStatus, type LinkRow, listLinks, listUnready, pageLinks } from "./link-store.ts";

/** Files of one page (contract §0). */
const pageSize = 30;
const maxUnready = 500;

/** A file of a collection on the wire. */
export function toFile(row: LinkRow) {
  const { file_id, user_id, name, hash, directory_id, status, error, content_type, size } = row;
  return {
    id: file_id,
    user_id,
    filename: name,
    hash,
    directory_id,
    status,
    error,
    meta: { name, content_type, size: Number(size) },
    created_at: row.created_at,
    updated_at: row.updated_at,
  };
}

export type FileList = ReturnType<typeof createFileList>;

/** Lists of the files of collections. */
export function createFileList(parts: KnowledgeParts) {
  const { db, collections } = parts;
  return {
    all: async (knowledgeId: string) => (await listLinks(db, knowledgeId)).map(toFile),
    page: (caller: Principal, knowledgeId: string, wanted: FilesQuery) =>
      pageDirectory(parts, caller, { knowledgeId, wanted }),
    search: (caller: Principal, text: string, page: number) => searchFiles(parts, caller, { text, page }),

    async pending(caller: Principal, knowledgeId: string) {
      await collections.load(caller, knowledgeId, "read");
      return await listPending(db, knowledgeId);
    },

    /** What `pending` answers, anew with every change, until nothing is being processed. Access is asked each time. */
    async *follow(caller: Principal, knowledgeId: string, signal: AbortSignal): AsyncGenerator<string> {
      for await (const step of parts.progress.follow(knowledgeId, signal)) {
        if (step === "silence") {
          yield ": still working\n\n";
        }
        // Access may end, and the collection too, while somebody watches.
        if ((await collections.find(caller, knowledgeId, "read")) === undefined) {
          return;
        }
        const state = await listPending(db, knowledgeId);
        yield `data: ${JSON.stringify(state)}\n\n`;
        if (state.processing === 0) {
          return;
        }
      }
    },
  };
}

/** A page of a directory: its files, the directories in it, and the way to it. */
async function pageDirectory(
  parts: KnowledgeParts,
  caller: Principal,
  { knowledgeId, wanted }: { knowledgeId: string; wanted: FilesQuery },
) {
  const { db, collections } = parts;
  await collections.load(caller, knowledgeId, "read");
  const query = wanted.query?.trim() ?? "";
  const directoryId = wanted.directory_id || null;
  await requireDirectory(db, knowledgeId, directoryId);
  // A search that names no directory looks everywhere.
  const isEverywhere = (query !== "" || wanted.status !== undefined) && wanted.directory_id === undefined;
  const [{ rows, total }, directories, breadcrumbs] = await Promise.all([
    pageLinks(db, knowledgeId, {
      query: query === "" ? undefined : query,
      directoryId: isEverywhere ? undefined : directoryId,
      status: wanted.status,
      orderBy: wanted.order_by,
      direction: wanted.direction,
      offset: (wanted.page - 1) * pageSize,
      limit: pageSize,
    }),
    isEverywhere ? [] : listDirectories(db, knowledgeId, directoryId),
    directoryId === null ? [] : findPath(db, knowledgeId, directoryId),
  ]);
  const ids = directories.map(({ id }) => id);
  const counts = await countInside(db, knowledgeId, ids);
  return {
    items: await withIndex(parts, rows),
    directories: directories.map((row) => ({ ...row, file_count: counts.get(row.id) ?? 0 })),
    breadcrumbs,
    total,
  };
}

/** Files with how far their passages have been embedded. */
async function withIndex({ index }: KnowledgeParts, rows: readonly LinkRow[]) {
  const states = await index?.progress(rows.map(({ file_id }) => file_id));
  return rows.map((row) => {
    const state = states?.get(row.file_id);
    return { ...toFile(row), index: state === undefined ? null : { ...state, error: state.error ?? null } };
  });
}

async function listPending(db: KnowledgeDatabase, knowledgeId: string) {
  const rows = await listUnready(db, knowledgeId, maxUnready);
  const counts = await countByStatus(db, knowledgeId);
  const { processing = 0, processed = 0, error = 0 } = counts;
  return { processing, processed, error, files: rows.map(toFile) };
}

/** Files by name over all collections that the caller may read. */
async function searchFiles(
  { db, access }: KnowledgeParts,
  caller: Principal,
  { text, page }: { text: string; page: number },
) {
  const matching = db
    .selectFrom("knowledge_file")
    .innerJoin("knowledge", "knowledge.id", "knowledge_file.knowledge_id")
    .where("knowledge_file.name", "ilike", toContains(text.trim()))
    .$if(!access.passes(caller), (query) =>
      query.where((eb) =>
        eb.or([
          eb("knowledge.user_id", "=", caller.userId),
          granted(eb, resourceType, "knowledge.id", caller, "read"),
        ]),
      ),
    );
  const [rows, counted] = await Promise.all([
    matching
      .selectAll("knowledge_file")
      .select("knowledge.name as collection_name")
      .orderBy("knowledge_file.name")
      .orderBy("knowledge_file.id")
      .limit(pageSize)
      .offset((page - 1) * pageSize)
      .execute(),
    matching.select((eb) => eb.fn.countAll<number>().as("total")).executeTakeFirstOrThrow(),
  ]);
  const items = rows.map((row) => ({
    ...toFile(row),
    collection: { id: row.knowledge_id, name: row.collection_name },
  }));
  return { items, total: Number(counted.total) };
}
