import type { Database } from "./handle.ts";

/**
 * Cleans up after changed and deleted rows and counts tables anew, where enough has changed since the last time. A
 * server does so by itself; the embedded database has nobody who would, and plans by numbers that were true when a
 * table was empty. Resolves to the tables it tended; other statements get their turn between two of them.
 */
export async function tend(database: Database): Promise<string[]> {
  const { rows } = await database.query(dueSql);
  const tables = rows.map((row) => String(row["name"]));
  for (const table of tables) {
    await database.query(`vacuum (analyze) ${table}`);
  }
  return tables;
}

/** The thresholds that a server's own upkeep has unless somebody changes them. */
const dueSql = `
  select format('%I.%I', s.schemaname, s.relname) as name
  from pg_stat_user_tables as s join pg_class as c on c.oid = s.relid
  where s.n_dead_tup > 50 + 0.2 * greatest(c.reltuples, 0)
    or s.n_ins_since_vacuum > 1000 + 0.2 * greatest(c.reltuples, 0)
    or s.n_mod_since_analyze > 50 + 0.1 * greatest(c.reltuples, 0)
  order by s.n_mod_since_analyze desc`;
