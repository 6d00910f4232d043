import { randomUUID } from "node:crypto";
import { type Selectable, sql } from "kysely";
import { AppError } from "#kernel/errors.ts";
import { seconds } from "#storage/clock.ts";
import { anyOf } from "#storage/values.ts";
import type { KnowledgeDatabase, KnowledgeDirectoryTable } from "../tables.ts";

export type DirectoryRow = Selectable<KnowledgeDirectoryTable>;

export async function findDirectory(
  db: KnowledgeDatabase,
  knowledgeId: string,
  id: string,
): Promise<DirectoryRow | undefined> {
  return await db
    .selectFrom("knowledge_directory")
    .selectAll()
    .where("knowledge_id", "=", knowledgeId)
    .where("id", "=", id)
    .executeTakeFirst();
}

/** Throws `not_found` unless the directory lies in the collection; null is its root. */
export async function requireDirectory(
  db: KnowledgeDatabase,
  knowledgeId: string,
  id: string | null,
): Promise<void> {
  if (id !== null && (await findDirectory(db, knowledgeId, id)) === undefined) {
    throw new AppError("not_found", "Directory not found");
  }
}

/** The directories of a collection by name: those in one of them (null for the root), or all. */
export async function listDirectories(
  db: KnowledgeDatabase,
  knowledgeId: string,
  parentId?: string | null,
): Promise<DirectoryRow[]> {
  return await db
    .selectFrom("knowledge_directory")
    .selectAll()
    .where("knowledge_id", "=", knowledgeId)
    .$if(parentId !== undefined, (query) =>
      query.where("parent_id", parentId === null ? "is" : "=", parentId as string),
    )
    .orderBy(sql`lower(name)`)
    .orderBy("id")
    .execute();
}

/** Stores a directory; undefined when there is one of that name beside it. */
export async function insertDirectory(
  tx: KnowledgeDatabase,
  wanted: { knowledgeId: string; parentId: string | null; userId: string; name: string },
): Promise<DirectoryRow | undefined> {
  const now = seconds();
  return await tx
    .insertInto("knowledge_directory")
    .values({
      id: randomUUID(),
      knowledge_id: wanted.knowledgeId,
      parent_id: wanted.parentId,
      user_id: wanted.userId,
      name: wanted.name,
      created_at: now,
      updated_at: now,
    })
    .onConflict((conflict) => conflict.doNothing())
    .returningAll()
    .executeTakeFirst();
}

/** The directory of a name in another one, whatever its case. */
export async function findNamed(
  db: KnowledgeDatabase,
  { knowledgeId, parentId, name }: { knowledgeId: string; parentId: string | null; name: string },
): Promise<DirectoryRow | undefined> {
  return await db
    .selectFrom("knowledge_directory")
    .selectAll()
    .where("knowledge_id", "=", knowledgeId)
    .where("parent_id", parentId === null ? "is" : "=", parentId as string)
    .where(sql<boolean>`lower(name) = lower(${name})`)
    .executeTakeFirst();
}

export async function updateDirectory(
  tx: KnowledgeDatabase,
  id: string,
  fields: { name?: string; parent_id?: string | null },
): Promise<DirectoryRow> {
  return await tx
    .updateTable("knowledge_directory")
    .set({ ...fields, updated_at: seconds() })
    .where("id", "=", id)
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** A directory and those it lies in, from the outermost; empty when the collection has no such directory. */
export async function findPath(
  db: KnowledgeDatabase,
  knowledgeId: string,
  id: string,
): Promise<{ id: string; name: string }[]> {
  const { rows } = await sql<{ id: string; name: string }>`
    with recursive path as (
      select id, name, parent_id, 1 as depth from knowledge_directory
        where id = ${id} and knowledge_id = ${knowledgeId}
      union all select d.id, d.name, d.parent_id, path.depth + 1
        from knowledge_directory as d join path on d.id = path.parent_id)
    select id, name from path order by depth desc`.execute(db);
  return rows;
}

/** A directory and all that lie inside it. */
export async function findSubtree(
  db: KnowledgeDatabase,
  knowledgeId: string,
  ids: readonly string[],
): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    with recursive inside as (
      select id from knowledge_directory where id = ${anyOf(ids)} and knowledge_id = ${knowledgeId}
      union select d.id from knowledge_directory as d join inside on d.parent_id = inside.id)
    select id from inside`.execute(db);
  return rows.map(({ id }) => id);
}

/** Ids of the files that lie in some directories. */
export async function filesIn(db: KnowledgeDatabase, directoryIds: readonly string[]): Promise<string[]> {
  const rows = await db
    .selectFrom("knowledge_file")
    .select("file_id")
    .where("directory_id", "=", anyOf(directoryIds))
    .execute();
  return rows.map((row) => row.file_id);
}

export async function deleteDirectories(tx: KnowledgeDatabase, ids: readonly string[]): Promise<void> {
  await tx.deleteFrom("knowledge_directory").where("id", "=", anyOf(ids)).execute();
}

/** How many files lie in each of some directories, those inside them included. */
export async function countInside(
  db: KnowledgeDatabase,
  knowledgeId: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  if (ids.length === 0) {
    return new Map();
  }
  const { rows } = await sql<{ root: string; files: number }>`
    with recursive inside as (
      select id, id as root from knowledge_directory where id = ${anyOf(ids)} and knowledge_id = ${knowledgeId}
      union all select d.id, inside.root from knowledge_directory as d join inside on d.parent_id = inside.id)
    select root, count(f.id) as files from inside
      join knowledge_file as f on f.directory_id = inside.id group by root`.execute(db);
  return new Map(rows.map(({ root, files }) => [root, Number(files)]));
}

/** Keeps the directories of a collection from other changes until the transaction ends. */
export async function lockDirectories(tx: KnowledgeDatabase, knowledgeId: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtext('knowledge_directory'), hashtext(${knowledgeId}))`.execute(
    tx,
  );
}

/** The directories of a collection in which no file lies, directly or further down. */
export async function listUnused(db: KnowledgeDatabase, knowledgeId: string): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    with recursive used as (
      select d.id, d.parent_id from knowledge_directory as d
        join knowledge_file as f on f.directory_id = d.id where d.knowledge_id = ${knowledgeId}
      union select d.id, d.parent_id from knowledge_directory as d join used on d.id = used.parent_id)
    select id from knowledge_directory where knowledge_id = ${knowledgeId} and id not in (select id from used)`.execute(
    db,
  );
  return rows.map(({ id }) => id);
}
