import { sql } from "kysely";
import { createArrayVectors } from "./vectors-array.ts";
import { createPgvectorVectors } from "./vectors-pgvector.ts";
import type { Database } from "./handle.ts";
import { withoutStatementTimeout } from "./statement-timeout.ts";
import { chooseVectorType, type VectorType } from "./vectors-table.ts";
import type { VectorStore } from "./vectors-types.ts";

export { createVectorTable } from "./vectors-table.ts";
export type {
  NearVector,
  NewVector,
  VectorIndex,
  VectorQuery,
  VectorStore,
  VectorTable,
} from "./vectors-types.ts";

/** Chooses by what the database can: pgvector where the extension is, else arrays. */
export async function openVectors(database: Database, table: string): Promise<VectorStore> {
  const type = await findColumnType(database, table);
  return type === "real[]"
    ? createArrayVectors(database, table)
    : createPgvectorVectors(database, table, type);
}

/**
 * The type of the column. A database that got the extension after the table was made has its arrays turned into vectors
 * once, at the start.
 */
async function findColumnType(database: Database, table: string): Promise<VectorType> {
  const { rows } = await database.query(
    `select format_type(atttypid, null) as type from pg_attribute
     where attrelid = to_regclass($1) and attname = 'embedding'`,
    [table],
  );
  // The extension may stand in a schema that the search path does not name.
  const found = String(rows[0]?.["type"] ?? "")
    .split(".")
    .at(-1);
  if (found === "halfvec" || found === "vector") {
    return found;
  }
  const best = await chooseVectorType(database.db);
  if (best !== "real[]" && found !== "") {
    const type = sql.raw(best);
    const alter = sql`alter table ${sql.id(table)} alter column embedding type ${type} using embedding::${type}`;
    await withoutStatementTimeout(() => alter.execute(database.db));
  }
  return best;
}
