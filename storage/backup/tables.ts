import { type Kysely, sql } from "kysely";

// oxlint-disable typescript/no-explicit-any -- tables of every plugin are copied alike

/** Schema of a table: beside the platform's tables, or in the schema of the job queue. */
export type Place = "own" | "jobs";

export interface Column {
  readonly name: string;
  /** As Postgres writes it, such as `character varying(40)`. */
  readonly type: string;
}

/** A table whose rows are copied; generated columns are computed again where the rows go. */
export interface TableShape {
  readonly place: Place;
  readonly name: string;
  readonly columns: readonly Column[];
}

/** The names of schemas in one database; archives know them by their place alone. */
export type Schemas = Readonly<Record<Place, string>>;

/** `own.chat`: the name of a table in an archive. */
export const nameOf = ({ place, name }: Pick<TableShape, "place" | "name">) => `${place}.${name}`;

export const toTable = (schemas: Schemas, { place, name }: Pick<TableShape, "place" | "name">) =>
  sql.id(schemas[place], name);

/** The schema of the platform's tables is that of the connection, as DATABASE_SCHEMA set it. */
export async function findSchemas(connection: Kysely<any>, jobs: string): Promise<Schemas> {
  const { rows } = await sql<{ own: string }>`select current_schema() as own`.execute(connection);
  return { own: rows[0]?.own ?? "public", jobs };
}

/** The tables of a database that has been migrated, by name. */
export async function readTables(connection: Kysely<any>, schemas: Schemas): Promise<TableShape[]> {
  const { rows } = await sql<{ place: Place; name: string; column: string; type: string }>`
    select case n.nspname when ${schemas.own} then 'own' else 'jobs' end as place, c.relname as name,
      a.attname as column, format_type(a.atttypid, a.atttypmod) as type
    from pg_class c
    join pg_namespace n on n.oid = c.relnamespace
    join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
    where c.relkind = 'r' and n.nspname in (${schemas.own}, ${schemas.jobs})
    order by 1, 2, a.attnum`.execute(connection);
  const tables = new Map<string, { place: Place; name: string; columns: Column[] }>();
  for (const { place, name, column, type } of rows) {
    const table = tables.get(nameOf({ place, name })) ?? { place, name, columns: [] };
    table.columns.push({ name: column, type: toPlainType(type, schemas) });
    tables.set(nameOf(table), table);
  }
  return [...tables.values()];
}

/** Types of the queue stand in its schema, whose name archives do not know; those of extensions stand anywhere. */
function toPlainType(type: string, { jobs }: Schemas): string {
  const prefix = `${jobs}.`;
  return type.startsWith(prefix)
    ? `jobs.${type.slice(prefix.length)}`
    : type.replace(/^.*\.(?=(half)?vec)/, "");
}

/** The type as a statement names it. */
export function toType(type: string, { jobs }: Schemas) {
  return type.startsWith("jobs.") ? sql.id(jobs, type.slice("jobs.".length)) : sql.raw(type);
}

/** Values are copied as texts: these settings make a text mean the same on every server. */
export async function useOneTextForm(connection: Kysely<any>): Promise<void> {
  await sql`select set_config('TimeZone', 'UTC', true), set_config('DateStyle', 'ISO, YMD', true),
    set_config('IntervalStyle', 'postgres', true), set_config('extra_float_digits', '1', true),
    set_config('bytea_output', 'hex', true), set_config('xmloption', 'content', true)`.execute(connection);
}
