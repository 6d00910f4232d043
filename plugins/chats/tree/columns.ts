import { type RawBuilder, sql } from "kysely";

/** The columns that some rows name: a short statement is planned sooner. */
export function usedColumns(rows: readonly { readonly set: Readonly<Record<string, unknown>> }[]): string[] {
  return [...new Set(rows.flatMap(({ set }) => Object.keys(set)))].toSorted();
}

/** The value of a column in `p.set`; a JSON null is an empty column. */
export function valueOf(column: string): RawBuilder<unknown> {
  const text = sql`p."set" ->> ${sql.lit(column)}`;
  if (["role", "model_id", "context_summary"].includes(column)) {
    return text;
  }
  return column === "done"
    ? sql`(${text})::boolean`
    : sql`nullif(p."set" -> ${sql.lit(column)}, 'null'::jsonb)`;
}
