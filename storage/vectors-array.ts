import { type RawBuilder, sql } from "kysely";
import type { Database } from "./handle.ts";
import { addVectors, dropVectors, type SimilarityRow, toNear, within } from "./vectors-common.ts";
import type { VectorStore } from "./vectors-types.ts";

/**
 * Vectors as arrays, for a Postgres without the extension: every vector of the scope is compared, which is exact and
 * takes about 30 ms for a thousand. Vectors have the length 1, so that their product is the cosine.
 */
export function createArrayVectors(database: Database, table: string): VectorStore {
  // Products of tiny numbers leave the range of `real`, which Postgres refuses.
  const similarity = (vector: Float32Array) =>
    sql`(select sum(a::float8 * b) from unnest(embedding, ${`{${vector.join(",")}}`}::real[]) as pair (a, b))`;
  const select = (vector: Float32Array, where: RawBuilder<unknown>) =>
    sql<SimilarityRow>`select passage_id, ${similarity(vector)} as similarity from ${sql.id(table)} where ${where}`;

  return {
    kind: "array",
    prepare: async () => {},
    add: (index, vectors) => addVectors({ database, table, type: "real[]" }, index, vectors),

    async nearest({ index, vector, limit, sources }) {
      const all = select(vector, within(index, sources));
      const { rows } = await sql<SimilarityRow>`${all} order by similarity desc limit ${limit}`.execute(
        database.db,
      );
      return rows.map(toNear);
    },

    async compare({ index, vector, passages }) {
      const some = sql`index_id = ${index.id} and passage_id = any(${[...passages]}::bigint[])`;
      const { rows } = await select(vector, some).execute(database.db);
      return rows.map(toNear);
    },

    drop: (indexId) => dropVectors(database, table, indexId),
  };
}
