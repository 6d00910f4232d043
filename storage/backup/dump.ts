import { type Kysely, sql } from "kysely";
import { RowSum } from "./row-sum.ts";
import { nameOf, type Schemas, type TableShape, toTable, useOneTextForm } from "./tables.ts";

// oxlint-disable typescript/no-explicit-any -- tables of every plugin are copied alike

/** Rows of one table: each line is a JSON list of the columns' texts, or null. */
export interface Part {
  readonly table: TableShape;
  readonly lines: readonly string[];
}

/** What a table held when it was copied. */
export interface TableCount {
  readonly rows: number;
  /** Of a `RowSum`. */
  readonly sum: string;
}

const rowsAtOnce = 200;
const partBytes = 4 * 1024 * 1024;

/**
 * Reads the tables as they are at one moment; `connection` is in a transaction that sees a snapshot. The parts of a table
 * follow each other; an empty table has none. `counted` is called with each table's figures after its last part.
 */
export async function* dumpTables(
  connection: Kysely<any>,
  schemas: Schemas,
  tables: readonly TableShape[],
  counted: (table: TableShape, count: TableCount) => void,
): AsyncGenerator<Part> {
  await useOneTextForm(connection);
  for (const table of tables) {
    const sum = new RowSum();
    let lines: string[] = [];
    let size = 0;
    for await (const line of readLines(connection, schemas, table)) {
      sum.add(line);
      lines.push(line);
      size += line.length;
      if (size >= partBytes) {
        yield { table, lines };
        lines = [];
        size = 0;
      }
    }
    if (lines.length > 0) {
      yield { table, lines };
    }
    counted(table, { rows: sum.rows, sum: sum.toString() });
  }
}

/** The figures of tables as they are now. */
export async function countTables(
  connection: Kysely<any>,
  schemas: Schemas,
  tables: readonly TableShape[],
): Promise<Map<string, TableCount>> {
  const counts = new Map<string, TableCount>();
  await useOneTextForm(connection);
  for (const table of tables) {
    const sum = new RowSum();
    for await (const line of readLines(connection, schemas, table)) {
      sum.add(line);
    }
    counts.set(nameOf(table), { rows: sum.rows, sum: sum.toString() });
  }
  return counts;
}

async function* readLines(
  connection: Kysely<any>,
  schemas: Schemas,
  table: TableShape,
): AsyncGenerator<string> {
  const texts = table.columns.map(({ name }) => sql`${sql.id(name)}::text`);
  await sql`declare rows_to_copy no scroll cursor for
    select json_build_array(${sql.join(texts)})::text as line from ${toTable(schemas, table)}`.execute(
    connection,
  );
  const fetch = sql<{ line: string }>`fetch ${sql.lit(rowsAtOnce)} from rows_to_copy`;
  for (;;) {
    const { rows } = await fetch.execute(connection);
    yield* rows.map(({ line }) => line);
    if (rows.length < rowsAtOnce) {
      break;
    }
  }
  await sql`close rows_to_copy`.execute(connection);
}

/** What every sequence of the platform's tables gave last, by `place.name`. */
export async function readSequences(
  connection: Kysely<any>,
  schemas: Schemas,
): Promise<Record<string, string>> {
  const { rows } = await sql<{ schema: string; name: string; value: string }>`
    select schemaname as schema, sequencename as name, last_value::text as value from pg_sequences
    where schemaname in (${schemas.own}, ${schemas.jobs}) and last_value is not null`.execute(connection);
  return Object.fromEntries(
    rows.map(({ schema, name, value }) => [`${schema === schemas.own ? "own" : "jobs"}.${name}`, value]),
  );
}
