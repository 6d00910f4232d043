import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import type { Principal } from "#kernel/access/principal.ts";
import { AppError } from "#kernel/errors.ts";
import { seconds } from "#storage/clock.ts";
import { granted } from "#storage/grants.ts";
import { anyOf, toJson } from "#storage/values.ts";
import { type CollectionRow, type KnowledgeDatabase, resourceType } from "../tables.ts";

/** What the files of a collection add up to. */
export interface CollectionCounts {
  readonly files: number;
  /** Bytes. */
  readonly size: number;
  readonly processing: number;
  readonly failed: number;
}

export interface NewCollection {
  readonly userId: string;
  readonly name: string;
  readonly description: string;
  readonly meta?: Readonly<Record<string, unknown>>;
}

export async function insertCollection(tx: KnowledgeDatabase, wanted: NewCollection): Promise<CollectionRow> {
  const now = seconds();
  const { userId, name, description, meta = {} } = wanted;
  const row = {
    id: randomUUID(),
    user_id: userId,
    name,
    description,
    meta: toJson(meta),
    created_at: now,
    updated_at: now,
  };
  return await tx.insertInto("knowledge").values(row).returningAll().executeTakeFirstOrThrow();
}

export async function findCollection(db: KnowledgeDatabase, id: string): Promise<CollectionRow | undefined> {
  return await db.selectFrom("knowledge").selectAll().where("id", "=", id).executeTakeFirst();
}

export async function existingCollections(db: KnowledgeDatabase, ids: readonly string[]): Promise<string[]> {
  const rows = await db.selectFrom("knowledge").select("id").where("id", "=", anyOf(ids)).execute();
  return rows.map(({ id }) => id);
}

/** The row of now, kept from other changes until the transaction ends. Throws `not_found`. */
export async function lockCollection(tx: KnowledgeDatabase, id: string): Promise<CollectionRow> {
  const row = await tx
    .selectFrom("knowledge")
    .selectAll()
    .where("id", "=", id)
    .forUpdate()
    .executeTakeFirst();
  if (row === undefined) {
    throw new AppError("not_found", "Not found");
  }
  return row;
}

export async function updateCollection(
  tx: KnowledgeDatabase,
  id: string,
  fields: { name?: string; description?: string; meta?: Readonly<Record<string, unknown>> },
): Promise<CollectionRow> {
  const { meta, ...texts } = fields;
  return await tx
    .updateTable("knowledge")
    .set({ ...texts, ...(meta && { meta: toJson(meta) }), updated_at: seconds() })
    .where("id", "=", id)
    .returningAll()
    .executeTakeFirstOrThrow();
}

export async function touchCollection(db: KnowledgeDatabase, id: string): Promise<void> {
  await db.updateTable("knowledge").set({ updated_at: seconds() }).where("id", "=", id).execute();
}

export async function deleteCollections(tx: KnowledgeDatabase, ids: readonly string[]): Promise<void> {
  await tx.deleteFrom("knowledge").where("id", "=", anyOf(ids)).execute();
}

/** Collections that a caller may use this way; `all` for administrators who pass without a grant. */
export function selectPermitted(
  db: KnowledgeDatabase,
  caller: Principal,
  { all, permission }: { all: boolean; permission: "read" | "write" },
) {
  const query = db.selectFrom("knowledge");
  return all
    ? query
    : query.where((eb) =>
        eb.or([
          eb("knowledge.user_id", "=", caller.userId),
          granted(eb, resourceType, "knowledge.id", caller, permission),
        ]),
      );
}

/** By collection id; collections without files are left out. */
export async function countFiles(
  db: KnowledgeDatabase,
  ids: readonly string[],
): Promise<ReadonlyMap<string, CollectionCounts>> {
  if (ids.length === 0) {
    return new Map();
  }
  const rows = await db
    .selectFrom("knowledge_file")
    .select([
      "knowledge_id",
      sql<number>`count(*)`.as("files"),
      sql<string>`coalesce(sum(size), 0)`.as("size"),
      sql<number>`count(*) filter (where status = 'processing')`.as("processing"),
      sql<number>`count(*) filter (where status = 'error')`.as("failed"),
    ])
    .where("knowledge_id", "=", anyOf(ids))
    .groupBy("knowledge_id")
    .execute();
  return new Map(
    rows.map((row) => [
      row.knowledge_id,
      {
        files: Number(row.files),
        size: Number(row.size),
        processing: Number(row.processing),
        failed: Number(row.failed),
      },
    ]),
  );
}

/** Ids of collections whose owner's account is gone. */
export async function listOwnerless(db: KnowledgeDatabase, limit: number): Promise<string[]> {
  const rows = await db
    .selectFrom("knowledge")
    .select("knowledge.id")
    .where(({ not, exists, selectFrom }) =>
      not(exists(selectFrom("user").select("user.id").whereRef("user.id", "=", "knowledge.user_id"))),
    )
    .limit(limit)
    .execute();
  return rows.map(({ id }) => id);
}
