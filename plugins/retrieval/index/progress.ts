import { sql } from "kysely";
import { seconds } from "#storage/clock.ts";
import type { IndexProgress } from "../service.ts";
import type { RetrievalDatabase } from "../tables.ts";

interface ProgressRow {
  readonly item_id: string;
  readonly passages: number;
  readonly embedded: number;
  readonly gave_up: boolean;
  readonly error: string | null;
  readonly free_at: number;
}

/** How far the index of files has come, by file id. */
export async function readProgress(
  db: RetrievalDatabase,
  fileIds: readonly string[],
  hasVectors: boolean,
): Promise<Map<string, IndexProgress>> {
  const { rows } = await sql<ProgressRow>`select s.item_id, s.passages, s.gave_up, s.error, s.free_at,
      case when s.embedded_in = i.id then s.passages else
        (select count(*)::integer from passage_vector as v where v.source_id = s.id and v.index_id = i.id) end as embedded
    from retrieval_source as s left join embedding_index as i on i.status = 'serving'
    where s.status = 'live' and s.item_id = any(${[...fileIds]}::text[])`.execute(db);
  return new Map(
    rows.map((row) => [
      row.item_id,
      {
        passages: row.passages,
        embedded: row.embedded,
        status: toStatus(row, hasVectors),
        error: row.error ?? undefined,
      },
    ]),
  );
}

function toStatus(row: ProgressRow, hasVectors: boolean): IndexProgress["status"] {
  if (!hasVectors || row.embedded >= row.passages) {
    return "ready";
  }
  if (row.gave_up) {
    return "failed";
  }
  return row.embedded > 0 || row.free_at > seconds() ? "embedding" : "pending";
}
