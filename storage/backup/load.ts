import { type Kysely, sql, type Transaction } from "kysely";
import { StorageError } from "../errors.ts";
import { countTables, type Part, type TableCount } from "./dump.ts";
import {
  type Column,
  nameOf,
  readTables,
  type Schemas,
  type TableShape,
  toTable,
  toType,
  useOneTextForm,
} from "./tables.ts";

// oxlint-disable typescript/no-explicit-any -- tables of every plugin are copied alike

export interface Load {
  /** Puts rows into their table. */
  add(part: Part): Promise<void>;
  /** Puts sequences where they stood, and the rules between tables in force again. Throws StorageError on a difference. */
  finish(counts: ReadonlyMap<string, TableCount>, sequences: Readonly<Record<string, string>>): Promise<void>;
}

/** More than that in one statement is cut, so that neither side holds a table in memory. */
const statementBytes = 1024 * 1024;

/**
 * Empties the tables and takes rows for them, all inside `tx`: who breaks it off leaves the database as it was. `given`
 * are the tables of the archive; those that this database lacks are refused, columns likewise.
 */
export async function openLoad(
  tx: Transaction<any>,
  schemas: Schemas,
  given: readonly TableShape[],
): Promise<Load> {
  await useOneTextForm(tx);
  const own = new Map((await readTables(tx, schemas)).map((table) => [nameOf(table), table]));
  const plans = new Map(given.map((table) => [nameOf(table), planOf(table, own.get(nameOf(table)))]));
  const rules = await dropRules(tx, schemas);
  // A queue of another version of its library stays as it is: empty.
  const filled = [...own.values()].filter((table) => table.place === "own" || plans.has(nameOf(table)));
  for (const table of filled) {
    // Triggers refuse changes of what is append-only, and count and announce what was counted when it was first written.
    await sql`alter table ${toTable(schemas, table)} disable trigger user`.execute(tx);
  }
  await sql`truncate ${sql.join(filled.map((table) => toTable(schemas, table)))}`.execute(tx);
  return {
    async add({ table, lines }) {
      const insert = toInsert(schemas, plans.get(nameOf(table)) as TablePlan);
      for (const chunk of toChunks(lines)) {
        await insert(`[${chunk.join(",")}]`).execute(tx);
      }
    },
    async finish(counts, sequences) {
      for (const table of filled) {
        await sql`alter table ${toTable(schemas, table)} enable trigger user`.execute(tx);
      }
      for (const { table, name, definition } of rules) {
        await sql`alter table ${sql.raw(table)} add constraint ${sql.id(name)} ${sql.raw(definition)}`.execute(
          tx,
        );
      }
      await setSequences(tx, schemas, sequences);
      await compare(tx, schemas, [...plans.values()], counts);
    },
  };
}

interface TablePlan {
  readonly table: TableShape;
  /** By place in a line: the column's type here. */
  readonly types: readonly string[];
  /** Vectors that this database keeps in another type are close, not equal. */
  readonly isConverted: boolean;
}

function planOf(table: TableShape, here: TableShape | undefined): TablePlan {
  if (here === undefined) {
    throw new StorageError(`The backup has a table that this version does not know: ${table.name}`);
  }
  const types = table.columns.map(({ name, type }) => {
    const column = here.columns.find((each) => each.name === name);
    if (column === undefined || (column.type !== type && !(isVector(column) && isVector({ name, type })))) {
      throw new StorageError(
        `The backup has a column that this version does not know: ${table.name}.${name} of type ${type}`,
      );
    }
    return column.type;
  });
  return { table, types, isConverted: types.some((type, at) => type !== table.columns[at]?.type) };
}

const isVector = ({ type }: Column) => /^(real\[\]|(half)?vec(tor)?(\(\d+\))?)$/.test(type);

function toInsert(schemas: Schemas, { table, types }: TablePlan) {
  const columns = table.columns.map(({ name }) => sql.id(name));
  const values = table.columns.map(({ type }, at) => {
    const target = types[at] as string;
    const text = sql`line->>${sql.lit(at)}`;
    return sql`(${type === target ? text : convert(text, target)})::${toType(target, schemas)}`;
  });
  const into = toTable(schemas, table);
  return (json: string) => sql`insert into ${into} (${sql.join(columns)}) overriding system value
    select ${sql.join(values)} from json_array_elements(${json}::json) as line`;
}

/** Lists of numbers are written in brackets by the extension, in braces by Postgres itself. */
function convert(text: ReturnType<typeof sql>, target: string) {
  return target === "real[]" ? sql`translate(${text}, '[]', '{}')` : sql`translate(${text}, '{}', '[]')`;
}

function* toChunks(lines: readonly string[]): Generator<string[]> {
  let chunk: string[] = [];
  let size = 0;
  for (const line of lines) {
    chunk.push(line);
    size += line.length;
    if (size >= statementBytes) {
      yield chunk;
      chunk = [];
      size = 0;
    }
  }
  if (chunk.length > 0) {
    yield chunk;
  }
}

interface Rule {
  readonly table: string;
  readonly name: string;
  readonly definition: string;
}

/** Foreign keys: rows come in the order of tables, not in that of their references. */
async function dropRules(tx: Transaction<any>, schemas: Schemas): Promise<Rule[]> {
  const { rows } = await sql<Rule>`
    select format('%I.%I', n.nspname, c.relname) as table, k.conname as name, pg_get_constraintdef(k.oid) as definition
    from pg_constraint k join pg_class c on c.oid = k.conrelid join pg_namespace n on n.oid = c.relnamespace
    where k.contype = 'f' and k.conparentid = 0 and n.nspname in (${schemas.own}, ${schemas.jobs})`.execute(
    tx,
  );
  for (const { table, name } of rows) {
    await sql`alter table ${sql.raw(table)} drop constraint ${sql.id(name)}`.execute(tx);
  }
  return rows;
}

async function setSequences(
  tx: Transaction<any>,
  schemas: Schemas,
  sequences: Readonly<Record<string, string>>,
): Promise<void> {
  for (const [name, value] of Object.entries(sequences)) {
    const [place, sequence] = [name.slice(0, name.indexOf(".")), name.slice(name.indexOf(".") + 1)];
    const path = sql`format('%I.%I', ${schemas[place as keyof Schemas]}::text, ${sequence}::text)`;
    await sql`select setval(to_regclass(${path}), ${value}::bigint) where to_regclass(${path}) is not null`.execute(
      tx,
    );
  }
}

async function compare(
  tx: Kysely<any>,
  schemas: Schemas,
  plans: readonly TablePlan[],
  counts: ReadonlyMap<string, TableCount>,
): Promise<void> {
  const found = await countTables(
    tx,
    schemas,
    plans.map(({ table }) => table),
  );
  for (const { table, isConverted } of plans) {
    const [wanted, has] = [counts.get(nameOf(table)), found.get(nameOf(table))];
    if (wanted?.rows !== has?.rows || (!isConverted && wanted?.sum !== has?.sum)) {
      throw new StorageError(
        `The table ${table.name} differs from the backup after it was read: ${has?.rows} rows of ${wanted?.rows}. Nothing was kept.`,
      );
    }
  }
}
