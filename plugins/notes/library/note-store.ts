import { randomUUID } from "node:crypto";
import type { Principal } from "#kernel/access/principal.ts";
import { AppError } from "#kernel/errors.ts";
import { nanoseconds } from "#storage/clock.ts";
import { granted } from "#storage/grants.ts";
import { anyOf, toJson } from "#storage/values.ts";
import { type Bag, type NoteDatabase, type NoteRow, resourceType } from "../tables.ts";

export async function findNote(db: NoteDatabase, id: string): Promise<NoteRow | undefined> {
  return await db.selectFrom("note").selectAll().where("id", "=", id).executeTakeFirst();
}

export async function findHead(
  db: NoteDatabase,
  id: string,
): Promise<Pick<NoteRow, "id" | "user_id"> | undefined> {
  return await db.selectFrom("note").select(["id", "user_id"]).where("id", "=", id).executeTakeFirst();
}

export async function existingNotes(db: NoteDatabase, ids: readonly string[]): Promise<string[]> {
  const rows = await db.selectFrom("note").select("id").where("id", "=", anyOf(ids)).execute();
  return rows.map(({ id }) => id);
}

/** The row of now, kept from other changes until the transaction ends. Throws `not_found`. */
export async function lockNote(tx: NoteDatabase, id: string): Promise<NoteRow> {
  const row = await tx.selectFrom("note").selectAll().where("id", "=", id).forUpdate().executeTakeFirst();
  if (row === undefined) {
    throw new AppError("not_found", "Not found");
  }
  return row;
}

export async function insertNote(
  tx: NoteDatabase,
  fields: { userId: string; title: string; content: string; data: Bag; meta: Bag },
): Promise<NoteRow> {
  const now = nanoseconds();
  return await tx
    .insertInto("note")
    .values({
      id: randomUUID(),
      user_id: fields.userId,
      title: fields.title,
      content: fields.content,
      data: toJson(fields.data),
      meta: toJson(fields.meta),
      created_at: now,
      updated_at: now,
    })
    .returningAll()
    .executeTakeFirstOrThrow();
}

export async function updateNote(
  tx: NoteDatabase,
  id: string,
  { data, meta, ...fields }: Partial<Pick<NoteRow, "title" | "content" | "data" | "meta">>,
): Promise<NoteRow> {
  return await tx
    .updateTable("note")
    .set({
      ...fields,
      ...(data && { data: toJson(data) }),
      ...(meta && { meta: toJson(meta) }),
      updated_at: nanoseconds(),
    })
    .where("id", "=", id)
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** Notes that a caller may use this way; `all` for administrators who pass without a grant. */
export function selectPermitted(
  db: NoteDatabase,
  caller: Principal,
  { all, permission }: { all: boolean; permission: "read" | "write" },
) {
  const query = db.selectFrom("note");
  return all
    ? query
    : query.where((eb) =>
        eb.or([
          eb("note.user_id", "=", caller.userId),
          granted(eb, resourceType, "note.id", caller, permission),
        ]),
      );
}

/** Those of `ids` that a person has pinned. */
export async function pinnedAmong(
  db: NoteDatabase,
  userId: string,
  ids: readonly string[],
): Promise<Set<string>> {
  const rows = await db
    .selectFrom("pinned_note")
    .select("note_id")
    .where("user_id", "=", userId)
    .where("note_id", "=", anyOf(ids))
    .execute();
  return new Set(rows.map(({ note_id: id }) => id));
}

/** Pins a note for a person, or takes the pin away; resolves to whether it is pinned now. */
export async function togglePin(db: NoteDatabase, userId: string, noteId: string): Promise<boolean> {
  const gone = await db
    .deleteFrom("pinned_note")
    .where("user_id", "=", userId)
    .where("note_id", "=", noteId)
    .returning("id")
    .executeTakeFirst();
  if (gone === undefined) {
    await db
      .insertInto("pinned_note")
      .values({ id: randomUUID(), user_id: userId, note_id: noteId, created_at: nanoseconds() })
      .onConflict((conflict) => conflict.columns(["user_id", "note_id"]).doNothing())
      .execute();
  }
  return gone === undefined;
}

/** Makes these the files of a note; who put one there first stays the one who did. */
export async function replaceFiles(
  tx: NoteDatabase,
  { noteId, userId }: { noteId: string; userId: string },
  fileIds: readonly string[],
): Promise<void> {
  await tx
    .deleteFrom("note_file")
    .where("note_id", "=", noteId)
    .where((eb) => eb.not(eb("file_id", "=", anyOf(fileIds))))
    .execute();
  if (fileIds.length > 0) {
    await tx
      .insertInto("note_file")
      .values(fileIds.map((id) => ({ note_id: noteId, file_id: id, user_id: userId })))
      .onConflict((conflict) => conflict.columns(["note_id", "file_id"]).doNothing())
      .execute();
  }
}
