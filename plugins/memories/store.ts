import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import { seconds } from "#storage/clock.ts";
import {
  limits,
  type Memory,
  type MemoryChange,
  type MemoryType,
  type Origin,
  type Remembered,
} from "./schema.ts";
import type { MemoryDatabase } from "./tables.ts";

const columns = ["id", "user_id", "type", "path", "content", "meta", "created_at", "updated_at"] as const;
const changeColumns = [
  "id",
  "memory_id",
  "action",
  "before",
  "after",
  "source",
  "undone_at",
  "created_at",
] as const;

export interface Wanted {
  readonly userId: string;
  readonly type?: MemoryType | undefined;
  /** Memories of this place; "" for those that lie in none. */
  readonly path?: string | undefined;
  /** Those of the places below as well. */
  readonly withChildren?: boolean;
  readonly ids?: readonly string[];
  /** Leaves out what waits for the person's yes. */
  readonly keptOnly?: boolean;
  readonly limit?: number;
}

/** Memories of one person, newest first. */
export async function listMemories(db: MemoryDatabase, wanted: Wanted): Promise<Memory[]> {
  const { userId, type, path, withChildren = false, ids, keptOnly = false, limit } = wanted;
  let query = db.selectFrom("memory").select(columns).where("user_id", "=", userId);
  query = type === undefined ? query : query.where("type", "=", type);
  query = ids === undefined ? query : query.where("id", "=", sql<string>`any(${[...ids]}::text[])`);
  query = keptOnly ? query.where(sql<boolean>`meta -> 'proposed' is null`) : query;
  if (path !== undefined) {
    const below = sql<boolean>`starts_with(path, ${path === "" ? "" : `${path}/`})`;
    query = query.where((eb) => {
      const here = path === "" ? eb("path", "is", null) : eb("path", "=", path);
      return withChildren ? eb.or([here, below]) : here;
    });
  }
  query = limit === undefined ? query : query.limit(limit);
  return await query.orderBy("updated_at", "desc").orderBy("id").execute();
}

export async function findMemory(db: MemoryDatabase, id: string): Promise<Memory | undefined> {
  return await db.selectFrom("memory").select(columns).where("id", "=", id).executeTakeFirst();
}

export async function countMemories(db: MemoryDatabase, userId: string): Promise<number> {
  const row = await db
    .selectFrom("memory")
    .select((eb) => eb.fn.countAll<number>().as("count"))
    .where("user_id", "=", userId)
    .executeTakeFirstOrThrow();
  return Number(row.count);
}

/** The places that hold memories, with how many. */
export async function countPaths(
  db: MemoryDatabase,
  userId: string,
): Promise<{ path: string; count: number }[]> {
  const rows = await db
    .selectFrom("memory")
    .select((eb) => ["path", eb.fn.countAll<number>().as("count")] as const)
    .where("user_id", "=", userId)
    .where("path", "is not", null)
    .groupBy("path")
    .orderBy("path")
    .execute();
  return rows.map(({ path, count }) => ({ path: String(path), count: Number(count) }));
}

/** Keeps a person's changes one after another: a limit that two count at once would be passed. */
export async function lockMemories(tx: MemoryDatabase, userId: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`memory:${userId}`}, 0))`.execute(tx);
}

export async function putMemory(
  db: MemoryDatabase,
  userId: string,
  memory: Remembered & { readonly id?: string | undefined },
): Promise<Memory> {
  const now = seconds();
  const { id = randomUUID(), type, path, content, meta } = memory;
  return await db
    .insertInto("memory")
    .values({ id, user_id: userId, type, path, content, meta, created_at: now, updated_at: now })
    .onConflict((conflict) =>
      conflict.column("id").doUpdateSet({ type, path, content, meta, updated_at: now }),
    )
    .returning(columns)
    .executeTakeFirstOrThrow();
}

export async function deleteMemories(
  db: MemoryDatabase,
  userId: string,
  ids?: readonly string[],
): Promise<string[]> {
  let query = db.deleteFrom("memory").where("user_id", "=", userId);
  query = ids === undefined ? query : query.where("id", "=", sql<string>`any(${[...ids]}::text[])`);
  return (await query.returning("id").execute()).map(({ id }) => id);
}

export interface NewChange {
  readonly userId: string;
  readonly memoryId: string;
  readonly action: MemoryChange["action"];
  readonly before: Remembered | null;
  readonly after: Remembered | null;
  readonly source: Origin;
}

/** Writes down a change; the oldest beyond the limit go. */
export async function addChange(tx: MemoryDatabase, change: NewChange): Promise<void> {
  const { userId, memoryId, ...rest } = change;
  await tx
    .insertInto("memory_change")
    .values({
      id: randomUUID(),
      user_id: userId,
      memory_id: memoryId,
      ...rest,
      undone_at: null,
      created_at: seconds(),
    })
    .execute();
  await sql`delete from memory_change where user_id = ${userId} and sequence <= (
    select sequence from memory_change where user_id = ${userId}
    order by sequence desc offset ${limits.changes} limit 1)`.execute(tx);
}

/** The last changes of a person's memories, newest first. */
export async function listChanges(db: MemoryDatabase, userId: string): Promise<MemoryChange[]> {
  return await db
    .selectFrom("memory_change")
    .select(changeColumns)
    .where("user_id", "=", userId)
    .orderBy("sequence", "desc")
    .execute();
}

export async function findChange(
  db: MemoryDatabase,
  userId: string,
  id: string,
): Promise<MemoryChange | undefined> {
  return await db
    .selectFrom("memory_change")
    .select(changeColumns)
    .where("user_id", "=", userId)
    .where("id", "=", id)
    .executeTakeFirst();
}

export async function markUndone(tx: MemoryDatabase, id: string): Promise<void> {
  await tx.updateTable("memory_change").set({ undone_at: seconds() }).where("id", "=", id).execute();
}

export async function forgetChanges(tx: MemoryDatabase, userId: string): Promise<void> {
  await tx.deleteFrom("memory_change").where("user_id", "=", userId).execute();
}
