import { type Selectable, sql } from "kysely";
import { seconds } from "#storage/clock.ts";
import { anyOf, toJson } from "#storage/values.ts";
import type { FolderDatabase, FolderTable } from "./tables.ts";

export type FolderRow = Selectable<FolderTable>;

/** What is written of a folder. */
export interface FolderValues {
  readonly name: string;
  readonly data: Record<string, unknown>;
  readonly meta: Record<string, unknown>;
  readonly items: unknown;
}

export async function findFolder(db: FolderDatabase, id: string): Promise<FolderRow | undefined> {
  return await db.selectFrom("folder").selectAll().where("id", "=", id).executeTakeFirst();
}

/** The folder, held against other changes until the transaction ends. */
export async function lockFolder(tx: FolderDatabase, id: string): Promise<FolderRow | undefined> {
  return await tx.selectFrom("folder").selectAll().where("id", "=", id).forUpdate().executeTakeFirst();
}

export async function listFolders(db: FolderDatabase, userId: string): Promise<FolderRow[]> {
  return await db
    .selectFrom("folder")
    .selectAll()
    .where("user_id", "=", userId)
    .orderBy(sql`lower(name)`)
    .orderBy("id")
    .execute();
}

/** Holds the tree of an owner: of two who move folders at once, the second sees what the first did. */
export async function lockTree(tx: FolderDatabase, userId: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtext('folders'), hashtext(${userId}))`.execute(tx);
}

export async function insertFolder(
  tx: FolderDatabase,
  place: { id: string; user_id: string; parent_id: string | null },
  { name, data, meta, items }: FolderValues,
): Promise<FolderRow> {
  const now = seconds();
  return await tx
    .insertInto("folder")
    .values({
      ...place,
      name,
      items: items === null ? null : toJson(items),
      data: toJson(data),
      meta: toJson(meta),
      is_expanded: false,
      created_at: now,
      updated_at: now,
    })
    .returningAll()
    .executeTakeFirstOrThrow();
}

export async function updateFolder(
  tx: FolderDatabase,
  id: string,
  { name, data, meta, items }: FolderValues,
): Promise<void> {
  await tx
    .updateTable("folder")
    .set({
      name,
      data: toJson(data),
      meta: toJson(meta),
      items: items === null ? null : toJson(items),
      updated_at: seconds(),
    })
    .where("id", "=", id)
    .execute();
}

export async function setExpanded(db: FolderDatabase, id: string, isExpanded: boolean): Promise<void> {
  await db.updateTable("folder").set({ is_expanded: isExpanded }).where("id", "=", id).execute();
}

export async function setParent(tx: FolderDatabase, id: string, parentId: string | null): Promise<void> {
  await tx
    .updateTable("folder")
    .set({ parent_id: parentId, updated_at: seconds() })
    .where("id", "=", id)
    .execute();
}

/** A folder and those it lies in; empty when the owner has no such folder. */
export async function findPath(db: FolderDatabase, userId: string, id: string): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    with recursive path as (
      select id, parent_id from folder where id = ${id} and user_id = ${userId}
      union select f.id, f.parent_id from folder as f join path on f.id = path.parent_id)
    select id from path`.execute(db);
  return rows.map((row) => row.id);
}

/** Some folders and all that lie inside them. */
export async function findSubtree(db: FolderDatabase, ids: readonly string[]): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    with recursive inside as (
      select id from folder where id = ${anyOf(ids)}
      union select f.id from folder as f join inside on f.parent_id = inside.id)
    select id from inside`.execute(db);
  return rows.map((row) => row.id);
}

/** The owner's folders with an id, or a name in whatever case, its spaces written as such or as underscores. */
export async function findNamed(db: FolderDatabase, userId: string, text: string): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select id from folder where user_id = ${userId}
      and (id = ${text} or lower(${text}) in (lower(name), replace(lower(name), ' ', '_')))`.execute(db);
  return rows.map((row) => row.id);
}

export async function deleteFolders(tx: FolderDatabase, ids: readonly string[]): Promise<void> {
  await tx.deleteFrom("folder").where("id", "=", anyOf(ids)).execute();
}

/** Which of some folders exist, so that grants of others can be swept. */
export async function existingFolders(db: FolderDatabase, ids: readonly string[]): Promise<string[]> {
  const rows = await db.selectFrom("folder").select("id").where("id", "=", anyOf(ids)).execute();
  return rows.map(({ id }) => id);
}
