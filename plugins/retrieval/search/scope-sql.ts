import { type RawBuilder, sql } from "kysely";
import { toCollectionName } from "../access/names.ts";
import type { SearchScope } from "../service.ts";
import type { RetrievalDatabase } from "../tables.ts";

/** A scope whose collections of single files are given as the files. */
export interface PlainScope {
  readonly files: readonly string[];
  readonly collections: readonly string[];
}

const fileCollection = "file-";

/** Names as the index has them; `file-<id>` becomes the file. */
export function toPlainScope(scope: Partial<SearchScope>): PlainScope {
  const names = (scope.collections ?? []).map(toCollectionName);
  const files = names.filter((name) => name.startsWith(fileCollection));
  return {
    files: [...new Set([...(scope.files ?? []), ...files.map((name) => name.slice(fileCollection.length))])],
    collections: [...new Set(names.filter((name) => !name.startsWith(fileCollection)))],
  };
}

/** The ids of the live sources of a scope, as a query for use inside others. */
export function sourcesOf({ files, collections }: PlainScope): RawBuilder<{ id: number }> {
  return sql<{ id: number }>`select s.id from retrieval_source as s where s.status = 'live' and (
    s.item_id = any(${[...files]}::text[]) or s.item_id in (
      select m.item_id from retrieval_member as m where m.collection = any(${[...collections]}::text[])))`;
}

/** How much there is in a scope, by language. */
export async function sizeOf(
  db: RetrievalDatabase,
  scope: PlainScope,
): Promise<{ passages: number; languages: string[] }> {
  const { rows } = await sql<{ language: string; passages: number }>`
    select language, sum(passages)::integer as passages from retrieval_source
    where id in (${sourcesOf(scope)}) group by language`.execute(db);
  return {
    passages: rows.reduce((sum, row) => sum + row.passages, 0),
    languages: rows.map(({ language }) => language),
  };
}
