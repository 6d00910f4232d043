import { sql } from "kysely";
import { AppError } from "#kernel/errors.ts";
import { nanoseconds } from "#storage/clock.ts";
import type { NoteDatabase } from "../tables.ts";

/** Updates of a note that one person made, joined into one. */
export interface NewUpdate {
  readonly userId: string;
  readonly bytes: Uint8Array;
}

/** Adds updates to a note's log. Throws `not_found` when the note is gone. */
export async function insertUpdates(
  db: NoteDatabase,
  noteId: string,
  updates: readonly NewUpdate[],
): Promise<void> {
  const rows = updates.map(({ userId, bytes }) => ({
    note_id: noteId,
    user_id: userId,
    bytes: Buffer.from(bytes),
    created_at: nanoseconds(),
  }));
  try {
    await db.insertInto("note_update").values(rows).execute();
  } catch (error) {
    // The foreign key: somebody deleted the note meanwhile.
    if ((error as { code?: unknown }).code === "23503") {
      throw new AppError("not_found", "Not found");
    }
    throw error;
  }
}

/** Bytes that a note's document takes now. */
export async function sizeOf(db: NoteDatabase, noteId: string): Promise<number> {
  const { rows } = await sql<{ size: number | null }>`select
    coalesce((select octet_length(state) from note_document where note_id = ${noteId}), 0)
    + coalesce((select sum(octet_length(bytes)) from note_update where note_id = ${noteId}), 0)::int
    as size`.execute(db);
  return Number(rows[0]?.size ?? 0);
}

/** Everything that makes up a note's document, read in one statement: nothing is seen twice or missed. */
export async function readLog(db: NoteDatabase, noteId: string) {
  const rows = await db
    .selectFrom("note_document")
    .select([sql<string | null>`null`.as("id"), sql<string | null>`null`.as("user_id"), "state as bytes"])
    .where("note_id", "=", noteId)
    .unionAll(
      db
        .selectFrom("note_update")
        .select([sql<string | null>`id::text`.as("id"), "user_id", "bytes"])
        .where("note_id", "=", noteId),
    )
    .execute();
  const added = rows
    .filter(({ id }) => id !== null)
    .toSorted((one, other) => Number(BigInt(one.id as string) - BigInt(other.id as string)));
  return {
    bytes: rows.map(({ bytes }) => new Uint8Array(bytes)),
    ids: added.map(({ id }) => id as string),
    /** The author of the last of the added updates. */
    lastAuthor: added.at(-1)?.user_id ?? null,
  };
}

/** Makes a compacted state the document of a note, in place of the log's entries that it holds. */
export async function storeState(
  tx: NoteDatabase,
  noteId: string,
  { state, ids }: { state: Uint8Array; ids: readonly string[] },
): Promise<void> {
  const bytes = Buffer.from(state);
  await tx
    .insertInto("note_document")
    .values({ note_id: noteId, state: bytes })
    .onConflict((conflict) => conflict.column("note_id").doUpdateSet({ state: bytes }))
    .execute();
  if (ids.length > 0) {
    await sql`delete from note_update where id = any(${[...ids]}::bigint[])`.execute(tx);
  }
}

/** True when the log holds something that the compacted document lacks. */
export async function hasUpdates(db: NoteDatabase, noteId: string): Promise<boolean> {
  const row = await db
    .selectFrom("note_update")
    .select("id")
    .where("note_id", "=", noteId)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

/** Notes whose log has waited since `before`: the process that was to compact it is gone. */
export async function staleNotes(db: NoteDatabase, before: bigint): Promise<string[]> {
  const rows = await db
    .selectFrom("note_update")
    .select("note_id")
    .where("created_at", "<", before)
    .groupBy("note_id")
    .limit(100)
    .execute();
  return rows.map(({ note_id: id }) => id);
}
