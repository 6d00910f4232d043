import { sql } from "kysely";
import { seconds } from "#storage/clock.ts";
import { anyOf } from "#storage/values.ts";
import type { FileProgress } from "./progress.ts";
import { type FileFacts, toStorable, toStorableText } from "./record.ts";
import type { FilesDatabase } from "./tables.ts";

/** Seconds for which a new file is kept from the workers, until it is offered; a crash in between only delays it. */
const holdSeconds = 30;

export interface NewFile {
  id: string;
  userId: string;
  hash: string;
  filename: string;
  path: string;
  status: "pending" | "completed";
  meta: Record<string, unknown>;
}

/** The columns of a record in lists: without its text and the key of its bytes. */
export const listedColumns = [
  "id",
  "user_id",
  "hash",
  "filename",
  "status",
  "error",
  "data",
  "meta",
  "created_at",
  "updated_at",
] as const;

/** The columns of a record without its text. */
export const recordColumns = [...listedColumns, "path"] as const;

/** The queries over single files that people cause; lists stand in `list-store.ts`, the worker's in `process-store.ts`. */
export function createFileStore(db: FilesDatabase) {
  const one = (id: string) => db.selectFrom("file").where("id", "=", id);

  return {
    insert: (file: NewFile): Promise<FileFacts> => insert(db, file),

    /** The same where it and the owner's other files take at most `quota` bytes; undefined otherwise. */
    insertWithin: (file: NewFile, quota: number) => insertWithin(db, file, quota),

    /** Bytes that the files of a person take. */
    bytesOf: (userId: string): Promise<number> => bytesOf(db, userId),

    /** The record with its text. */
    async find(id: string): Promise<FileFacts | undefined> {
      return await one(id)
        .select([...recordColumns, "content"])
        .executeTakeFirst();
    },

    /** The text of a file; null for one that has none, or is gone. */
    async textOf(id: string): Promise<string | null> {
      return (await one(id).select("content").executeTakeFirst())?.content ?? null;
    },

    /** The record without its text. */
    async findBare(id: string): Promise<FileFacts | undefined> {
      return await one(id).select(recordColumns).executeTakeFirst();
    },

    /** Where processing stands. */
    async progressOf(id: string): Promise<FileProgress | undefined> {
      const row = await one(id).select(["status", "error"]).executeTakeFirst();
      return row && (row.error === null ? { status: row.status } : { status: row.status, error: row.error });
    },

    /** The key of a file's bytes. */
    async pathOf(id: string): Promise<string | undefined> {
      return (await one(id).select("path").executeTakeFirst())?.path ?? undefined;
    },

    /** The records of some files, without texts and what processors added. */
    async listBare(ids: readonly string[]): Promise<FileFacts[]> {
      const columns = listedColumns.filter((column) => column !== "data");
      const rows = await db
        .selectFrom("file")
        .select([...columns, sql<boolean>`coalesce(octet_length(content), 0) > 0`.as("has_text")])
        .where("id", "=", anyOf(ids))
        .execute();
      const byId = new Map(rows.map(({ has_text, ...row }) => [row.id, { ...row, data: { has_text } }]));
      return ids.flatMap((id) => byId.get(id) ?? []);
    },

    idsWithText: (after: string | undefined, limit: number) => idsWithText(db, after, limit),

    /** Who owns those of some files that exist, by file id. */
    async ownersOf(ids: readonly string[]): Promise<Map<string, string>> {
      const query = db.selectFrom("file").select(["id", "user_id"]).where("id", "=", anyOf(ids));
      return new Map((await query.execute()).map((row) => [row.id, row.user_id]));
    },

    async rename(id: string, filename: string): Promise<FileFacts | undefined> {
      const meta = sql<string>`jsonb_set(meta, '{name}', cast(cast(${toStorable(filename)} as text) as jsonb))`;
      const query = db
        .updateTable("file")
        .set({ filename, meta, updated_at: seconds() })
        .where("id", "=", id);
      return await query.returning(recordColumns).executeTakeFirst();
    },

    /** Orders a file to be processed anew, with the text set by hand when one is given. Resolves to the order's revision. */
    async order(id: string, content?: string): Promise<number | undefined> {
      const now = seconds();
      const text =
        content === undefined ? {} : { content: toStorableText(content), edited: true, updated_at: now };
      const fresh = {
        status: "pending" as const,
        error: null,
        attempts: 0,
        started_at: null,
        lease_until: null,
      };
      const row = await db
        .updateTable("file")
        .set((eb) => ({ ...text, ...fresh, queued_at: now, revision: eb("revision", "+", 1) }))
        .where("id", "=", id)
        .returning("revision")
        .executeTakeFirst();
      return row?.revision;
    },

    /** Removes rows; resolves to what they were and where their bytes lie. */
    async remove(ids: readonly string[]): Promise<{ facts: FileFacts; path: string | null }[]> {
      if (ids.length === 0) {
        return [];
      }
      const query = db.deleteFrom("file").where("id", "in", ids);
      const rows = await query.returning([...recordColumns, "path"]).execute();
      return rows.map(({ path, ...row }) => ({ facts: row, path }));
    },
  };
}

async function insert(db: FilesDatabase, file: NewFile): Promise<FileFacts> {
  const { userId, meta, ...columns } = file;
  const row = { ...columns, ...timesOf(file), user_id: userId, meta: toStorable(meta), data: "{}" };
  return await db.insertInto("file").values(row).returning(recordColumns).executeTakeFirstOrThrow();
}

async function insertWithin(db: FilesDatabase, file: NewFile, quota: number): Promise<FileFacts | undefined> {
  return await db.transaction().execute(async (tx) => {
    await sql`select pg_advisory_xact_lock(hashtext('files'), hashtext(${file.userId}))`.execute(tx);
    const isFull = (await bytesOf(tx, file.userId)) + Number(file.meta["size"]) > quota;
    return isFull ? undefined : await insert(tx, file);
  });
}

async function bytesOf(db: FilesDatabase, userId: string): Promise<number> {
  const row = await db
    .selectFrom("file")
    .select(sql<string>`coalesce(sum(cast(meta ->> 'size' as bigint)), 0)`.as("bytes"))
    .where("user_id", "=", userId)
    .executeTakeFirstOrThrow();
  return Number(row.bytes);
}

function timesOf({ status }: NewFile) {
  const now = seconds();
  const held = status === "pending" ? { lease_until: now + holdSeconds } : {};
  return { queued_at: now, created_at: now, updated_at: now, ...held };
}

export type FileStore = ReturnType<typeof createFileStore>;

/** Ids of files that were read and have a text, in their order. */
async function idsWithText(db: FilesDatabase, after: string | undefined, limit: number): Promise<string[]> {
  const rows = await db
    .selectFrom("file")
    .select("id")
    .where("status", "=", "completed")
    .where(sql<boolean>`coalesce(octet_length(content), 0) > 0`)
    .$if(after !== undefined, (query) => query.where("id", ">", after as string))
    .orderBy("id")
    .limit(limit)
    .execute();
  return rows.map(({ id }) => id);
}
