import { type RawBuilder, sql } from "kysely";
import type { Database } from "./handle.ts";
import type { VectorType } from "./vectors-table.ts";
import type { NewVector, VectorIndex } from "./vectors-types.ts";

/** Adds vectors in one statement; `type` is the column's, into which each vector's text is read. */
export async function addVectors(
  { database, table, type }: { database: Database; table: string; type: VectorType },
  index: VectorIndex,
  vectors: readonly NewVector[],
): Promise<void> {
  requireSize(index, vectors);
  if (vectors.length === 0) {
    return;
  }
  const [open, close] = type === "real[]" ? ["{", "}"] : ["[", "]"];
  const texts = vectors.map(({ vector }) => open + vector.join(",") + close);
  // A passage may be removed while its vector is made: the join leaves it out, so that no vector is left behind.
  await sql`insert into ${sql.id(table)} (index_id, passage_id, source_id, embedding)
    select ${index.id}::integer, p.id, p.source_id, given.vector::${sql.raw(type)}
    from unnest(${vectors.map(({ passageId }) => passageId)}::bigint[], ${texts}::text[]) as given (id, vector)
    join retrieval_passage as p on p.id = given.id
    on conflict (index_id, passage_id) do update set embedding = excluded.embedding`.execute(database.db);
}

function requireSize({ dimensions }: VectorIndex, vectors: readonly NewVector[]): void {
  const wrong = vectors.find(({ vector }) => vector.length !== dimensions);
  if (wrong) {
    throw new RangeError(`A vector has ${wrong.vector.length} numbers; the index has ${dimensions}`);
  }
}

const dropStep = 2_000;

/** Removes an index's vectors in steps, so that nothing waits long for one of them. */
export async function dropVectors(database: Database, table: string, indexId: number): Promise<void> {
  for (;;) {
    const { numAffectedRows } = await sql`delete from ${sql.id(table)} where index_id = ${indexId}
      and passage_id in (select passage_id from ${sql.id(table)} where index_id = ${indexId} limit ${dropStep})`.execute(
      database.db,
    );
    if ((numAffectedRows ?? 0n) < BigInt(dropStep)) {
      return;
    }
  }
}

/** The rows of an index whose sources are in the scope; a subquery in brackets is asked once and then looked up. */
export function within(index: VectorIndex, sources: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`index_id = ${sql.lit(index.id)} and (source_id in (${sources})) is true`;
}

export interface SimilarityRow {
  passage_id: number;
  similarity: number;
}

export const toNear = ({ passage_id: passageId, similarity }: SimilarityRow) => ({
  passageId,
  similarity: Number(similarity),
});
