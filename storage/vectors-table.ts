import { type Kysely, sql } from "kysely";

/** Type of the column that holds vectors. */
export type VectorType = "halfvec" | "vector" | "real[]";

/**
 * The best type that a database has. Half precision halves the room and keeps the order of neighbours, but the embedded
 * database has no instruction for it: adding a vector to its index takes six times as long as in full precision.
 */
export async function chooseVectorType(db: Kysely<unknown>): Promise<VectorType> {
  const { rows } = await sql<{ embedded: boolean }>`
    select version() like '%PGlite%' as embedded from pg_extension where extname = 'vector'`.execute(db);
  return rows[0] === undefined ? "real[]" : rows[0].embedded ? "vector" : "halfvec";
}

/** Creates a table of vectors beside `retrieval_passage`. */
export async function createVectorTable(db: Kysely<unknown>, name: string): Promise<void> {
  const type = sql.raw(await chooseVectorType(db));
  await sql`create table ${sql.id(name)} (
    index_id integer not null,
    passage_id bigint not null references retrieval_passage (id) on delete cascade,
    source_id bigint not null,
    embedding ${type} not null,
    primary key (index_id, passage_id)
  )`.execute(db);
  // Vectors stay in their row: a scan that fetches each from elsewhere takes three times as long.
  await sql`alter table ${sql.id(name)} alter column embedding set storage main`.execute(db);
  await sql`create index ${sql.id(`${name}_source`)} on ${sql.id(name)} (index_id, source_id)`.execute(db);
  await sql`create index ${sql.id(`${name}_passage`)} on ${sql.id(name)} (passage_id)`.execute(db);
}
