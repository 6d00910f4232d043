import { sql } from "kysely";
import type { RetrievalDatabase } from "../tables.ts";

/** Key of the advisory lock. */
const LOCK = 771_204_131;

/**
 * Lets one transaction at a time change which sources a collection has, on all replicas: a file that is read and put
 * into a collection at the same moment would else be counted by neither.
 */
export async function lockStatistics(tx: RetrievalDatabase): Promise<void> {
  await sql`select pg_advisory_xact_lock(${LOCK}, hashtext(current_schema()))`.execute(tx);
}

/** Counts the passages of sources into collections, or out of them, which BM25 asks for. */
export async function countSources(
  tx: RetrievalDatabase,
  {
    collections,
    sources,
    sign,
  }: { collections: readonly string[]; sources: readonly number[]; sign: 1 | -1 },
): Promise<void> {
  if (collections.length === 0 || sources.length === 0) {
    return;
  }
  const names = [...collections];
  const terms = sql`select lexeme, count(*)::integer as passages
    from retrieval_passage as p, unnest(tsvector_to_array(p.lexemes)) as lexeme
    where p.source_id = any(${[...sources]}::bigint[]) group by lexeme`;
  await (
    sign === 1
      ? sql`insert into retrieval_term (collection, lexeme, passages)
        select c.name, t.lexeme, t.passages from (${terms}) as t cross join unnest(${names}::text[]) as c (name)
        on conflict (collection, lexeme) do update set passages = retrieval_term.passages + excluded.passages`
      : sql`update retrieval_term as r set passages = r.passages - t.passages from (${terms}) as t
        where r.lexeme = t.lexeme and r.collection = any(${names}::text[])`
  ).execute(tx);
  if (sign === -1) {
    await sql`delete from retrieval_term where collection = any(${names}::text[]) and passages <= 0`.execute(
      tx,
    );
  }
  await sql`update retrieval_collection as c
    set passages = greatest(0, c.passages + ${sign}::integer * t.passages),
        length = greatest(0, c.length + ${sign}::integer * t.length)
    from (select count(*)::integer as passages, coalesce(sum(length), 0)::bigint as length
      from retrieval_passage where source_id = any(${[...sources]}::bigint[])) as t
    where c.name = any(${names}::text[])`.execute(tx);
}

/** Names of the collections that have an item. */
export async function collectionsOf(tx: RetrievalDatabase, itemId: string): Promise<string[]> {
  const rows = await tx
    .selectFrom("retrieval_member")
    .select("collection")
    .where("item_id", "=", itemId)
    .orderBy("collection")
    .execute();
  return rows.map(({ collection }) => collection);
}
