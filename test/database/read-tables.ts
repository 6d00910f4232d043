import { Client } from "pg";

/** What a table holds, in short. */
export interface TableFacts {
  readonly rows: number;
  readonly hash: string | null;
}

/** Counts and hashes every table, generated columns included, and reads where every sequence stands. */
export async function readTables(url: string): Promise<Record<string, TableFacts>> {
  return await withClient(url, async (client) => {
    await client.query("set search_path = ''; set timezone = 'UTC'");
    const { rows: tables } = await client.query<{ name: string; columns: string }>(`
      select c.oid::regclass::text as name,
        case c.relkind when 'S' then 'last_value, is_called' else '*' end as columns
      from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where c.relkind in ('r', 'S') and n.nspname !~ '^pg_' and n.nspname <> 'information_schema'`);
    const read: Record<string, TableFacts> = {};
    for (const { name, columns } of tables) {
      const { rows } = await client.query<TableFacts>(
        `select count(*)::int as rows, md5(string_agg(hash, '' order by hash)) as hash
         from (select md5(t::text) as hash from (select ${columns} from ${name}) t) hashes`,
      );
      read[name] = rows[0]!;
    }
    return read;
  });
}

export async function withClient<T>(url: string, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
