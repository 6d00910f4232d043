import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import { nanoseconds } from "#storage/clock.ts";
import type { NoteDatabase, NoteRow, VersionRow } from "../tables.ts";

/** Versions that a note keeps; the oldest go. */
const mostVersions = 100;
/** Edits of one author within this time become one version. */
const windowNs = 10n * 60n * 1_000_000_000n;
/** Another author begins a version of his own after this time without an edit: people who write together share one. */
const pauseNs = 30n * 1_000_000_000n;
/** A text that is shorter than half of the one before has lost something, unless that was short itself. */
const shortChars = 80;

/**
 * Keeps the text of a note as its newest version. Edits that follow each other grow one version; another author, a large
 * deletion and `isApart`, as for a restored text, begin the next, so that the text before them stays.
 */
export async function keepVersion(
  tx: NoteDatabase,
  row: Pick<NoteRow, "id" | "title" | "content">,
  { userId, isApart }: { userId: string | null; isApart: boolean },
): Promise<void> {
  const now = nanoseconds();
  const last = await tx
    .selectFrom("note_version")
    .select(["id", "created_at", "updated_at", "content", "user_id"])
    .where("note_id", "=", row.id)
    .orderBy("created_at", "desc")
    .limit(1)
    .executeTakeFirst();
  // The log may name somebody whose account is gone by now.
  const author = sql<string | null>`(select id from "user" where id = ${userId})`;
  const values = { title: row.title, content: row.content, user_id: author, updated_at: now };
  if (last !== undefined && last.content === row.content) {
    return;
  }
  if (last !== undefined && !isApart && goesOn(last, { userId, content: row.content, now })) {
    await tx.updateTable("note_version").set(values).where("id", "=", last.id).execute();
    return;
  }
  await tx
    .insertInto("note_version")
    .values({ ...values, id: randomUUID(), note_id: row.id, created_at: now })
    .execute();
  await sql`delete from note_version where note_id = ${row.id} and id not in (
    select id from note_version where note_id = ${row.id} order by created_at desc
    limit ${mostVersions})`.execute(tx);
}

/** Whether an edit belongs to the version before it. */
export function goesOn(
  last: Pick<VersionRow, "created_at" | "updated_at" | "content" | "user_id">,
  { userId, content, now }: { userId: string | null; content: string; now: bigint },
): boolean {
  const isOfAnother = last.user_id !== userId && now - BigInt(last.updated_at) > pauseNs;
  const isLoss = last.content.length > shortChars && content.length < last.content.length / 2;
  return !isOfAnother && !isLoss && now - BigInt(last.created_at) < windowNs;
}

/** Newest first, without the texts. */
export async function listVersions(db: NoteDatabase, noteId: string) {
  return await db
    .selectFrom("note_version")
    .select(["id", "note_id", "user_id", "title", "created_at", "updated_at"])
    .select(sql<number>`length(content)`.as("chars"))
    .where("note_id", "=", noteId)
    .orderBy("created_at", "desc")
    .execute();
}

/** Undefined as well for a version of another note. */
export async function findVersion(
  db: NoteDatabase,
  noteId: string,
  id: string,
): Promise<VersionRow | undefined> {
  return await db
    .selectFrom("note_version")
    .selectAll()
    .where("note_id", "=", noteId)
    .where("id", "=", id)
    .executeTakeFirst();
}
