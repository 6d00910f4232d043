import { sql } from "kysely";
import type { FoundPassage } from "../service.ts";
import type { RetrievalDatabase } from "../tables.ts";
import { type PlainScope, sourcesOf } from "./scope-sql.ts";

/** A passage with what joining it needs to know. */
export interface LoadedPassage extends Omit<FoundPassage, "score" | "scores"> {
  readonly key: number;
  readonly position: number;
  readonly part: string | undefined;
}

/** Passages by their ids; those that were removed meanwhile are missing. */
export async function loadPassages(
  db: RetrievalDatabase,
  ids: readonly number[],
): Promise<Map<number, LoadedPassage>> {
  const rows = await db
    .selectFrom("retrieval_passage as p")
    .innerJoin("retrieval_source as s", "s.id", "p.source_id")
    .select(["p.id", "p.position", "p.content", "p.start_at", "p.end_at", "p.page", "p.sheet", "p.part"])
    .select(["p.headings", "s.item_id", "s.file_id", "s.name", "s.url"])
    .where("p.id", "=", sql<number>`any(${[...ids]}::bigint[])`)
    .where("s.status", "=", "live")
    .execute();
  return new Map(
    rows.map((row) => [
      row.id,
      {
        key: row.id,
        id: String(row.id),
        sourceId: row.item_id,
        fileId: row.file_id ?? undefined,
        name: row.name,
        url: row.url ?? undefined,
        content: row.content,
        start: row.start_at,
        end: row.end_at,
        page: row.page ?? undefined,
        sheet: row.sheet ?? undefined,
        part: row.part ?? undefined,
        headings: row.headings,
        position: row.position,
      },
    ]),
  );
}

/** Some passages of an item in the order of its text. */
export async function listPassages(
  db: RetrievalDatabase,
  itemId: string,
  { offset, limit }: { offset: number; limit: number },
) {
  const rows = await db
    .selectFrom("retrieval_passage as p")
    .innerJoin("retrieval_source as s", "s.id", "p.source_id")
    .select(["p.id", "p.position", "p.content", "p.start_at", "p.end_at", "p.page", "p.sheet", "p.part"])
    .select("p.headings")
    .where("s.item_id", "=", itemId)
    .where("s.status", "=", "live")
    .where("p.position", ">=", offset)
    .orderBy("p.position")
    .limit(limit)
    .execute();
  return rows.map(({ id, start_at: start, end_at: end, ...row }) => ({ ...row, id: String(id), start, end }));
}

/** The beginning of a source's text, and how many characters there are in all. */
export interface WholeText {
  readonly item_id: string;
  readonly file_id: string | null;
  readonly name: string;
  readonly url: string | null;
  readonly content: string;
  readonly length: number;
}

/** The first `limit` characters of each source of a scope, in the order of their names. */
export async function loadTexts(
  db: RetrievalDatabase,
  scope: PlainScope,
  limit: number,
): Promise<WholeText[]> {
  const { rows } = await sql<WholeText>`with listed as (
      select id, item_id, file_id, name, url, length(content) as length,
        coalesce(sum(length(content)) over (order by name, id rows between unbounded preceding and 1 preceding), 0) as before
      from retrieval_source where id in (${sourcesOf(scope)}))
    select l.item_id, l.file_id, l.name, l.url, l.length, left(s.content, greatest(0, ${limit} - l.before)::integer) as content
    from listed as l join retrieval_source as s on s.id = l.id
    where l.before < ${limit} order by l.name, l.id`.execute(db);
  return rows;
}
