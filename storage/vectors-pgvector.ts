import { type RawBuilder, sql } from "kysely";
import type { Database } from "./handle.ts";
import { withoutStatementTimeout } from "./statement-timeout.ts";
import { addVectors, dropVectors, type SimilarityRow, toNear, within } from "./vectors-common.ts";
import type { VectorIndex, VectorQuery, VectorStore } from "./vectors-types.ts";

/** Up to here comparing each vector is fast enough, simpler and exact (performance.md, P17). */
const exactLimit = 10_000;
/** An HNSW index holds vectors of at most this size. */
const maxIndexed = { halfvec: 4_000, vector: 2_000 };
/** Vectors that are added with one statement. */
const addStep = 8;
/** Finds 98 of 100 nearest of 100,000 vectors (performance.md, P17). */
const searchWidth = 100;

type PgvectorType = keyof typeof maxIndexed;

/** Vectors in full or half precision, with one HNSW index for each embedding index. */
export function createPgvectorVectors(database: Database, table: string, type: PgvectorType): VectorStore {
  const nameOf = (indexId: number) => `${table}_hnsw_${indexId}`;
  const prepared = new Set<number>();

  return {
    kind: "pgvector",

    async prepare(index) {
      if (index.dimensions <= maxIndexed[type] && !prepared.has(index.id)) {
        await createHnsw(database, { table, type, name: nameOf(index.id), index });
        prepared.add(index.id);
      }
    },

    async add(index, vectors) {
      // Each vector takes some milliseconds of the index: others get their turn in between.
      for (let at = 0; at < vectors.length; at += addStep) {
        await addVectors({ database, table, type }, index, vectors.slice(at, at + addStep));
      }
    },

    async nearest(query) {
      const isExact = query.expected <= exactLimit || query.index.dimensions > maxIndexed[type];
      const statement = select({ table, type }, query, isExact);
      const { rows } = isExact
        ? await statement.execute(database.db)
        : await database.transaction(async (tx) => {
            // Sorting everything is what the index spares; without this a filter may lead the planner to it.
            await sql`select set_config('enable_sort', 'off', true),
              set_config('hnsw.ef_search', ${String(Math.max(searchWidth, query.limit))}, true),
              set_config('hnsw.iterative_scan', 'relaxed_order', true)`.execute(tx);
            return await statement.execute(tx);
          });
      return rows.map(toNear).toSorted((a, b) => b.similarity - a.similarity);
    },

    async compare({ index, vector, passages }) {
      const { rows } =
        await sql<SimilarityRow>`select passage_id, 1 - (embedding <=> ${toText(vector)}::${sql.raw(type)}) as similarity
        from ${sql.id(table)} where index_id = ${index.id} and passage_id = any(${[...passages]}::bigint[])`.execute(
          database.db,
        );
      return rows.map(toNear);
    },

    async drop(indexId) {
      prepared.delete(indexId);
      await sql`drop index if exists ${sql.id(nameOf(indexId))}`.execute(database.db);
      await dropVectors(database, table, indexId);
    },
  };
}

/** The expression of the index, or one that no index fits. */
function select(
  { table, type }: { table: string; type: PgvectorType },
  { index, vector, limit, sources }: VectorQuery,
  isExact: boolean,
): RawBuilder<SimilarityRow> {
  const size = isExact ? sql.raw(type) : sql.raw(`${type}(${index.dimensions})`);
  const column = isExact ? sql`embedding` : sql`embedding::${size}`;
  const distance = sql`${column} <=> ${toText(vector)}::${size}`;
  return sql<SimilarityRow>`select passage_id, 1 - (${distance}) as similarity from ${sql.id(table)}
    where ${within(index, sources)} order by ${distance} limit ${limit}`;
}

interface Hnsw {
  readonly table: string;
  readonly type: PgvectorType;
  readonly name: string;
  readonly index: VectorIndex;
}

/**
 * Made before the first vectors come, it grows with them at two milliseconds each, and nothing ever waits for a long
 * build; over vectors that are there already a server builds it beside other work.
 */
async function createHnsw(database: Database, { table, type, name, index }: Hnsw): Promise<void> {
  const { rows } = await database.query(
    "select i.indisvalid as valid from pg_index i where i.indexrelid = to_regclass($1)",
    [name],
  );
  if (rows[0]?.["valid"] === true) {
    return;
  }
  // A build that was broken off leaves an index that no search uses.
  await sql`drop index if exists ${sql.id(name)}`.execute(database.db);
  const concurrently = sql.raw(database.kind === "server" ? "concurrently" : "");
  const create = sql`create index ${concurrently} if not exists ${sql.id(name)} on ${sql.id(table)}
    using hnsw ((embedding::${sql.raw(`${type}(${index.dimensions})`)}) ${sql.raw(`${type}_cosine_ops`)})
    where index_id = ${sql.lit(index.id)}`;
  await withoutStatementTimeout(() => create.execute(database.db));
}

const toText = (vector: Float32Array) => `[${vector.join(",")}]`;
