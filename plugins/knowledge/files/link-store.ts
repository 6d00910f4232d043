import { randomUUID } from "node:crypto";
import { type Selectable, sql } from "kysely";
import { seconds } from "#storage/clock.ts";
import { anyOf, toContains } from "#storage/values.ts";
import type { FileRecord } from "#plugins/files/service.ts";
import type { KnowledgeDatabase, KnowledgeFileTable, LinkStatus } from "../tables.ts";

export type LinkRow = Selectable<KnowledgeFileTable>;

export interface NewLinks {
  readonly knowledgeId: string;
  readonly directoryId: string | null;
  readonly userId: string;
  readonly files: readonly FileRecord[];
}

/** Rows of one statement: a row has twelve parameters, and a statement takes 65,535. */
const rowsAtOnce = 2_000;

/** Puts files into a collection as `processing`; resolves to those that were not in it. */
export async function insertLinks(tx: KnowledgeDatabase, wanted: NewLinks): Promise<LinkRow[]> {
  const { knowledgeId, directoryId, userId, files } = wanted;
  const now = seconds();
  const rows = files.map(({ id, filename, hash, meta }) => ({
    id: randomUUID(),
    knowledge_id: knowledgeId,
    file_id: id,
    user_id: userId,
    directory_id: directoryId,
    name: filename,
    size: Number(meta["size"] ?? 0),
    hash,
    content_type: typeof meta["content_type"] === "string" ? meta["content_type"] : null,
    status: "processing" as const,
    error: null,
    created_at: now,
    updated_at: now,
  }));
  const inserted: LinkRow[] = [];
  for (let at = 0; at < rows.length; at += rowsAtOnce) {
    inserted.push(
      ...(await tx
        .insertInto("knowledge_file")
        .values(rows.slice(at, at + rowsAtOnce))
        .onConflict((conflict) => conflict.columns(["knowledge_id", "file_id"]).doNothing())
        .returningAll()
        .execute()),
    );
  }
  return inserted;
}

/** Those of some files that are in a collection. */
export async function findLinks(
  db: KnowledgeDatabase,
  knowledgeId: string,
  fileIds: readonly string[],
): Promise<LinkRow[]> {
  return await db
    .selectFrom("knowledge_file")
    .selectAll()
    .where("knowledge_id", "=", knowledgeId)
    .where("file_id", "=", anyOf(fileIds))
    .execute();
}

/** The places of a file in collections. */
export async function findPlaces(db: KnowledgeDatabase, fileId: string): Promise<LinkRow[]> {
  return await db.selectFrom("knowledge_file").selectAll().where("file_id", "=", fileId).execute();
}

/** Every file of a collection by name. */
export async function listLinks(
  db: KnowledgeDatabase,
  knowledgeId: string,
  status?: LinkStatus,
): Promise<LinkRow[]> {
  return await db
    .selectFrom("knowledge_file")
    .selectAll()
    .where("knowledge_id", "=", knowledgeId)
    .$if(status !== undefined, (query) => query.where("status", "=", status as LinkStatus))
    .orderBy("name")
    .orderBy("id")
    .execute();
}

/** Files of a collection that are not ready, those that failed first; at most `limit`. */
export async function listUnready(
  db: KnowledgeDatabase,
  knowledgeId: string,
  limit: number,
): Promise<LinkRow[]> {
  return await db
    .selectFrom("knowledge_file")
    .selectAll()
    .where("knowledge_id", "=", knowledgeId)
    .where("status", "<>", "processed")
    .orderBy("status")
    .orderBy("name")
    .orderBy("id")
    .limit(limit)
    .execute();
}

export async function countByStatus(
  db: KnowledgeDatabase,
  knowledgeId: string,
): Promise<Partial<Record<LinkStatus, number>>> {
  const rows = await db
    .selectFrom("knowledge_file")
    .select(["status", (eb) => eb.fn.countAll<number>().as("files")])
    .where("knowledge_id", "=", knowledgeId)
    .groupBy("status")
    .execute();
  return Object.fromEntries(rows.map(({ status, files }) => [status, Number(files)]));
}

export async function setStatus(
  db: KnowledgeDatabase,
  { knowledgeId, fileIds }: { knowledgeId?: string; fileIds: readonly string[] },
  { status, error = null }: { status: LinkStatus; error?: string | null },
): Promise<string[]> {
  const rows = await db
    .updateTable("knowledge_file")
    .set({ status, error, updated_at: seconds() })
    .where("file_id", "=", anyOf(fileIds))
    .$if(knowledgeId !== undefined, (query) => query.where("knowledge_id", "=", knowledgeId as string))
    .returning("knowledge_id")
    .execute();
  return [...new Set(rows.map((row) => row.knowledge_id))];
}

export async function renameLinks(db: KnowledgeDatabase, fileId: string, name: string): Promise<string[]> {
  const rows = await db
    .updateTable("knowledge_file")
    .set({ name, updated_at: seconds() })
    .where("file_id", "=", fileId)
    .returning("knowledge_id")
    .execute();
  return rows.map((row) => row.knowledge_id);
}

export async function moveLinks(
  db: KnowledgeDatabase,
  { knowledgeId, fileIds }: { knowledgeId: string; fileIds: readonly string[] },
  directoryId: string | null,
): Promise<void> {
  await db
    .updateTable("knowledge_file")
    .set({ directory_id: directoryId, updated_at: seconds() })
    .where("knowledge_id", "=", knowledgeId)
    .where("file_id", "=", anyOf(fileIds))
    .execute();
}

export async function deleteLinks(
  db: KnowledgeDatabase,
  knowledgeId: string,
  fileIds: readonly string[],
): Promise<void> {
  await db
    .deleteFrom("knowledge_file")
    .where("knowledge_id", "=", knowledgeId)
    .where("file_id", "=", anyOf(fileIds))
    .execute();
}

/** Those of some files that lie in a collection, whichever. */
export async function linkedAnywhere(
  db: KnowledgeDatabase,
  fileIds: readonly string[],
): Promise<ReadonlySet<string>> {
  const rows = await db
    .selectFrom("knowledge_file")
    .select("file_id")
    .distinct()
    .where("file_id", "=", anyOf(fileIds))
    .execute();
  return new Set(rows.map((row) => row.file_id));
}

/** Files that have been processing for `idleSeconds` without a word, those that waited longest first. */
export async function listStale(
  db: KnowledgeDatabase,
  idleSeconds: number,
  limit: number,
): Promise<LinkRow[]> {
  return await db
    .selectFrom("knowledge_file")
    .selectAll()
    .where("status", "=", "processing")
    .where("updated_at", "<", seconds() - idleSeconds)
    .orderBy("updated_at")
    .limit(limit)
    .execute();
}

/** Notes that rows were looked at, so that others come first at the next look. */
export async function touchLinks(db: KnowledgeDatabase, ids: readonly string[]): Promise<void> {
  await db
    .updateTable("knowledge_file")
    .set({ updated_at: seconds() })
    .where("id", "=", anyOf(ids))
    .where("status", "=", "processing")
    .execute();
}

export interface LinkPage {
  readonly query: string | undefined;
  /** Undefined for all directories, null for the root. */
  readonly directoryId: string | null | undefined;
  readonly status: LinkStatus | undefined;
  readonly orderBy: "name" | "created_at" | "updated_at" | "size" | "status";
  readonly direction: "asc" | "desc";
  readonly offset: number;
  readonly limit: number;
}

/** A page of the files of a collection, and how many there are. */
export async function pageLinks(
  db: KnowledgeDatabase,
  knowledgeId: string,
  page: LinkPage,
): Promise<{ rows: LinkRow[]; total: number }> {
  const { query, directoryId, status } = page;
  const matching = db
    .selectFrom("knowledge_file")
    .where("knowledge_id", "=", knowledgeId)
    .$if(directoryId !== undefined, (wanted) =>
      wanted.where("directory_id", directoryId === null ? "is" : "=", directoryId as string),
    )
    .$if(status !== undefined, (wanted) => wanted.where("status", "=", status as LinkStatus))
    .$if(query !== undefined, (wanted) => wanted.where("name", "ilike", toContains(query as string)));
  const by = page.orderBy === "name" ? sql`lower(name)` : sql.ref(page.orderBy);
  const [rows, counted] = await Promise.all([
    matching
      .selectAll()
      .orderBy(by, page.direction)
      .orderBy("id")
      .limit(page.limit)
      .offset(page.offset)
      .execute(),
    matching.select((eb) => eb.fn.countAll<number>().as("total")).executeTakeFirstOrThrow(),
  ]);
  return { rows, total: Number(counted.total) };
}
