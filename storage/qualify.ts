import { type Kysely, sql } from "kysely";
import { StorageError } from "./errors.ts";

/** A function in the schema of the tables, and the bare names in it. */
export interface UnqualifiedFunction {
  readonly name: string;
  /** Tables and functions of the same schema that its body names. */
  readonly calls: readonly string[];
}

/**
 * Writes the schema before names in the body of a function. Dumps are restored, upgraded servers filled and replicas
 * written with an empty search_path, where a bare name is not found.
 */
export async function qualifyNames(db: Kysely<unknown>, { name, calls }: UnqualifiedFunction): Promise<void> {
  const { rows } = await sql<{ definition: string; schema: string }>`
    select pg_get_functiondef(oid) as definition, quote_ident(current_schema()) as schema from pg_proc
    where proname = ${name}
      and pronamespace = (select oid from pg_namespace where nspname = current_schema())`.execute(db);
  const [row, ...more] = rows;
  if (row === undefined || more.length > 0) {
    throw new StorageError(`${rows.length} functions are named ${name}, and one is expected`);
  }
  const bare = new RegExp(`(?<![\\w."])(${calls.join("|")})(?!\\w)`, "g");
  const qualified = row.definition.replace(bare, (found) => `${row.schema}.${found}`);
  await sql.raw(qualified).execute(db);
}
