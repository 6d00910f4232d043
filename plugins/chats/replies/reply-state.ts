import { type RawBuilder, sql } from "kysely";
import { usedColumns, valueOf } from "../tree/columns.ts";
import type { Checkpoint, GrownItem, ReplyListKey, ReplyState } from "./service-types.ts";

/** A checkpoint as the row of a statement. */
export interface CheckpointRow {
  readonly chat_id: string;
  readonly id: string;
  readonly run_id: string;
  readonly seq: number;
  readonly after?: number;
  readonly grown?: readonly GrownItem[];
  /** By column: the numbers of the events of new entries. */
  readonly numbers: Readonly<Record<string, readonly number[]>>;
  readonly set: Readonly<Record<string, unknown>>;
}

const stateColumns: Readonly<Record<keyof ReplyState, string>> = {
  content: "content",
  output: "output",
  usage: "usage",
  sources: "sources",
  files: "files",
  embeds: "embeds",
  statusHistory: "status_history",
  error: "error",
  extra: "extra",
};

/** Lists that others may add to as well, and where new entries go (contract §3.4). */
const lists: Readonly<Record<string, "before" | "behind">> = {
  sources: "behind",
  status_history: "behind",
  files: "before",
  embeds: "before",
};

export function toRow({
  chatId,
  messageId,
  runId,
  state,
  seq,
  grown,
  numbers = {},
}: Checkpoint): CheckpointRow {
  const columnOf = (key: string) => stateColumns[key as keyof ReplyState];
  return {
    chat_id: chatId,
    id: messageId,
    run_id: runId,
    seq,
    ...(grown && { after: grown.after }),
    ...(grown && grown.items.length > 0 && { grown: grown.items }),
    numbers: Object.fromEntries(
      Object.entries(numbers).map(([key, value]) => [columnOf(key as ReplyListKey), value]),
    ),
    set: Object.fromEntries(Object.entries(state).map(([key, value]) => [columnOf(key), value])),
  };
}

/** The assignments of `update chat_message as m … from … as p`, each with its comma: only what the rows name. */
export function toAssignments(rows: readonly CheckpointRow[]): RawBuilder<unknown>[] {
  const used = usedColumns(rows);
  const columns = used.filter((column) => column !== "extra" && !(column in lists));
  const assignments = columns.map(
    (column) => sql`${sql.ref(column)} = case when p."set" ? ${sql.lit(column)}
      then ${valueOf(column)} else m.${sql.ref(column)} end, `,
  );
  for (const [column, place] of Object.entries(lists)) {
    if (used.includes(column)) {
      assignments.push(sql`${sql.ref(column)} = case when p."set" ? ${sql.lit(column)}
        then ${toList(column, place)} else m.${sql.ref(column)} end, `);
    }
  }
  if (used.includes("extra")) {
    assignments.push(sql`extra = m.extra || coalesce(p."set" -> 'extra', '{}'::jsonb), `);
  }
  return assignments;
}

/**
 * The stored list with the new entries. Those whose event the message includes already came with a checkpoint whose
 * acknowledgement was lost: they are not added twice.
 */
function toList(column: string, place: "before" | "behind"): RawBuilder<unknown> {
  const [key, target] = [sql.lit(column), sql.ref(`m.${column}`)];
  const held = sql`case when jsonb_typeof(${target}) = 'array' then ${target} else '[]'::jsonb end`;
  const added = sql`(select coalesce(jsonb_agg(a.entry order by a.at), '[]'::jsonb)
    from jsonb_array_elements(p."set" -> ${key}) with ordinality as a (entry, at)
    where coalesce((p.numbers -> ${key} ->> (a.at - 1)::int)::int > m.seq, true))`;
  return place === "before" ? sql`${added} || ${held}` : sql`${held} || ${added}`;
}
