import type { Client } from "pg";

/**
 * Lists what cannot be computed with an empty search_path, as dumps are restored and replicas written: functions whose
 * bodies name tables or functions without a schema, and what calls those (generated columns, defaults, checks,
 * indexes, views). Triggers are held by their functions.
 */
export async function findBareNames(client: Client): Promise<string[]> {
  await client.query("begin");
  try {
    await client.query("set local search_path = ''");
    return [
      ...(await findUnreadable(client, await listExpressions(client))),
      ...(await findUnreadable(client, await listSqlFunctions(client))),
      ...(await findBareWords(client)),
    ].toSorted();
  } finally {
    await client.query("rollback");
  }
}

/** A thing of the database with a statement that fails where one of its names is not found. */
interface Probe {
  readonly name: string;
  readonly statement: string;
}

/** Condition for the schemas that are not the server's own; `column` names one. */
const isOurs = (column: string) => `${column} !~ '^pg_' and ${column} <> 'information_schema'`;
/** Condition for what no extension brought. */
const isNoExtension = (catalogue: string, id: string) => `not exists (select from pg_catalog.pg_depend d
  where d.classid = 'pg_catalog.${catalogue}'::pg_catalog.regclass and d.objid = ${id} and d.deptype = 'e')`;

/** The planner reads the bodies of the functions that an expression calls. */
async function listExpressions(client: Client): Promise<Probe[]> {
  const { rows } = await client.query<Probe>(`
    with expression as (
      select 'column ' || a.attname as name, a.attrelid as relation, pg_get_expr(d.adbin, d.adrelid) as text
        from pg_attrdef d join pg_attribute a on a.attrelid = d.adrelid and a.attnum = d.adnum
      union all
      select 'check ' || conname, conrelid, pg_get_expr(conbin, conrelid) from pg_constraint
        where contype = 'c' and conrelid <> 0
      union all
      select 'index ' || i.indexrelid::regclass, i.indrelid, pg_get_indexdef(i.indexrelid, n, false)
        from pg_index i, generate_series(1, i.indnatts) n where i.indkey[n - 1] = 0
      union all
      select 'index ' || indexrelid::regclass, indrelid, pg_get_expr(indpred, indrelid) from pg_index
        where indpred is not null)
    select e.name || ' of ' || e.relation::regclass as name,
      format('explain select %s from %s', e.text, e.relation::regclass) as statement
    from expression e join pg_class c on c.oid = e.relation join pg_namespace s on s.oid = c.relnamespace
    where ${isOurs("s.nspname")}
    union all
    select 'view ' || c.oid::regclass, 'explain ' || pg_get_viewdef(c.oid)
    from pg_class c join pg_namespace s on s.oid = c.relnamespace
    where c.relkind in ('v', 'm') and ${isOurs("s.nspname")} and ${isNoExtension("pg_class", "c.oid")}`);
  return rows;
}

/** Defining a function again makes the server read its body. */
async function listSqlFunctions(client: Client): Promise<Probe[]> {
  const { rows } = await client.query<Probe>(`
    select 'function ' || p.oid::regprocedure as name, pg_get_functiondef(p.oid) as statement
    from pg_proc p join pg_namespace s on s.oid = p.pronamespace join pg_language l on l.oid = p.prolang
    where l.lanname = 'sql' and ${isOurs("s.nspname")} and ${isNoExtension("pg_proc", "p.oid")}`);
  return rows;
}

async function findUnreadable(client: Client, probes: readonly Probe[]): Promise<string[]> {
  const found: string[] = [];
  for (const { name, statement } of probes) {
    await client.query("savepoint probe");
    try {
      await client.query(statement);
    } catch (error) {
      found.push(`${name}: ${(error as Error).message}`);
    }
    await client.query("rollback to savepoint probe");
  }
  return found;
}

/** The server reads bodies of other languages when they run: their words are held against the names that there are. */
async function findBareWords(client: Client): Promise<string[]> {
  const functions = await client.query<{ name: string; body: string }>(`
    select p.oid::regprocedure::text as name, p.prosrc as body
    from pg_proc p join pg_namespace s on s.oid = p.pronamespace join pg_language l on l.oid = p.prolang
    where l.lanname not in ('sql', 'c', 'internal') and ${isOurs("s.nspname")} and ${isNoExtension("pg_proc", "p.oid")}`);
  const names = await client.query<{ name: string }>(`
    select c.relname as name from pg_class c join pg_namespace s on s.oid = c.relnamespace
    where c.relkind in ('r', 'p', 'v', 'm', 'S') and ${isOurs("s.nspname")}
    union select p.proname || '(' from pg_proc p join pg_namespace s on s.oid = p.pronamespace
    where ${isOurs("s.nspname")}`);
  const known = new Set(names.rows.map(({ name }) => name));
  return functions.rows.flatMap(({ name, body }) =>
    [...listBareWords(body)].filter((word) => known.has(word)).map((word) => `function ${name}: ${word}`),
  );
}

const tables =
  /\b(?:from|join|into|update|table|only|truncate|references|perform|call)\s+"?([a-z_]\w*)"?(?![\w."(])/gi;
const calls = /(?<![\w."])"?([a-z_]\w*)"?\s*\(/gi;

function* listBareWords(body: string): Iterable<string> {
  const code = body.replace(/--.*$/gm, "").replace(/\/\*.*?\*\//gs, "");
  for (const [, table] of code.matchAll(tables)) {
    yield table!;
  }
  for (const [, called] of code.matchAll(calls)) {
    yield `${called}(`;
  }
}
