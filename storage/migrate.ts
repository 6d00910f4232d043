import { sql, type Kysely } from "kysely";
import type { Migration } from "kysely/migration";
import { seconds } from "./clock.ts";
import { StorageError } from "./errors.ts";
import type { Database } from "./handle.ts";
import { withoutStatementTimeout } from "./statement-timeout.ts";

// oxlint-disable typescript/no-explicit-any -- migrations and ledgers are beyond the typed tables

/** The migrations of one owner; they run in the order of their names. */
export interface MigrationSet {
  /** Plugin id, or `core`; names the ledger. */
  owner: string;
  migrations: Readonly<Record<string, Migration>>;
}

/** Tables that a library makes and alters by itself, in steps that it counts. */
export interface LibraryTables {
  /** Named in messages, like the owner of steps. */
  owner: string;
  /** The library's number of the state that this version needs. */
  needs: number;
  /** The number of the state there is; null when there are no tables yet. */
  has(): Promise<number | null>;
  /** Brings the tables there, all of it or nothing; called while the lock is held. */
  make(): Promise<void>;
}

export interface MigrateOptions {
  log?(message: string): void;
  /** Their turn comes after all steps. */
  libraries?: readonly LibraryTables[];
  /** False: nothing is changed, and pending steps are an error. */
  enabled?: boolean;
}

/**
 * Brings the database to the state the code expects. Owners run in the given order, each step in a transaction
 * together with its line in the ledger, so that a killed process leaves either all of a step or nothing.
 * Of several processes that start at once, one runs and the others wait. Throws StorageError.
 */
export async function migrate(
  database: Database,
  sets: readonly MigrationSet[],
  options: MigrateOptions = {},
): Promise<void> {
  const log = options.log ?? (() => {});
  const order = sets.flatMap(checkSet);
  const libraries = options.libraries ?? [];
  const work = async (connection: Kysely<any>) => {
    const ledgers = await findLedgerSchema(connection);
    const listMissing = async () => ({
      pending: await listPending({ connection, ledgers, sets }),
      behind: await listBehind(libraries),
    });
    const missing = await listMissing();
    if (missing.pending.size + missing.behind.length === 0) {
      return;
    }
    if (options.enabled === false) {
      refusePending([...missing.pending, ...missing.behind.map(libraryKey)]);
    }
    await lock(connection, ledgers, log);
    try {
      await createLedgers({ connection, ledgers, sets });
      // Another process may have run them while this one waited for the lock.
      const { pending, behind } = await listMissing();
      for (const step of order.filter((entry) => pending.has(stepKey(entry)))) {
        await runStep({ connection, ledgers, step, log });
      }
      for (const library of behind) {
        await told(libraryKey(library), log, () => library.make());
      }
    } finally {
      // When the connection is gone, so is the lock.
      await sql`select pg_advisory_unlock(${LOCK}, hashtext(${ledgers}))`.execute(connection).catch(() => {});
    }
  };
  await withoutStatementTimeout(() => database.db.connection().execute(work));
}

interface Step {
  owner: string;
  name: string;
  migration: Migration;
}

interface Scope {
  connection: Kysely<any>;
  ledgers: string;
  sets: readonly MigrationSet[];
}

/** First half of the advisory lock's key; the second is the schema, so that two installations do not wait for each other. */
const LOCK = 771_204_113;

const stepKey = ({ owner, name }: { owner: string; name: string }) => `${owner} ${name}`;

function checkSet({ owner, migrations }: MigrationSet): Step[] {
  if (!/^[a-z0-9][a-z0-9_-]{0,59}$/.test(owner)) {
    throw new StorageError(
      `"${owner}" cannot own migrations: a name of lower-case letters, digits, _ and - is needed`,
    );
  }
  return Object.keys(migrations)
    .toSorted()
    .map((name) => ({ owner, name, migration: migrations[name]! }));
}

/** Ledgers live in `migration`; with DATABASE_SCHEMA in a schema of their own beside it. */
async function findLedgerSchema(connection: Kysely<any>): Promise<string> {
  const { rows } = await sql<{ name: string }>`select current_schema() as name`.execute(connection);
  const name = rows[0]?.name ?? "public";
  return name === "public" ? "migration" : `${name}_migration`;
}

async function lock(connection: Kysely<any>, ledgers: string, log: (message: string) => void): Promise<void> {
  const { rows } = await sql<{
    got: boolean;
  }>`select pg_try_advisory_lock(${LOCK}, hashtext(${ledgers})) as got`.execute(connection);
  if (!rows[0]?.got) {
    log("Another process migrates the database; waiting for it");
    await sql`select pg_advisory_lock(${LOCK}, hashtext(${ledgers}))`.execute(connection);
  }
}

async function createLedgers({ connection, ledgers, sets }: Scope): Promise<void> {
  await sql`create schema if not exists ${sql.id(ledgers)}`.execute(connection);
  for (const { owner } of sets) {
    await sql`create table if not exists ${sql.id(ledgers, owner)} (name text primary key, executed_at bigint not null)`.execute(
      connection,
    );
  }
}

/** What the ledgers lack. Throws when a ledger knows more than the code: the database is newer than this version. */
async function listPending(scope: Scope): Promise<Set<string>> {
  const done = await readLedgers(scope);
  const pending = new Set<string>();
  for (const { owner, migrations } of scope.sets) {
    const names = done.get(owner) ?? new Set();
    const unknown = [...names].filter((name) => !Object.hasOwn(migrations, name));
    if (unknown.length > 0) {
      throw newerDatabase(`${owner} ${unknown.toSorted().join(", ")}`);
    }
    for (const name of Object.keys(migrations).filter((name) => !names.has(name))) {
      pending.add(stepKey({ owner, name }));
    }
  }
  return pending;
}

/** The steps that ran, by owner; one statement for all ledgers, since every start reads them. */
async function readLedgers({ connection, ledgers, sets }: Scope): Promise<Map<string, Set<string>>> {
  const done = new Map<string, Set<string>>();
  const { rows: tables } = await sql<{ name: string }>`
    select table_name as name from information_schema.tables where table_schema = ${ledgers}`.execute(
    connection,
  );
  const existing = new Set(tables.map(({ name }) => name));
  const owners = sets.map(({ owner }) => owner).filter((owner) => existing.has(owner));
  if (owners.length > 0) {
    const parts = owners.map(
      (owner) => sql`select ${owner}::text as owner, name from ${sql.id(ledgers, owner)}`,
    );
    const { rows } = await sql<{ owner: string; name: string }>`${sql.join(parts, sql` union all `)}`.execute(
      connection,
    );
    for (const { owner, name } of rows) {
      done.set(owner, (done.get(owner) ?? new Set()).add(name));
    }
  }
  return done;
}

/** The steps that have run, by owner: the state of a database. */
export async function readLedger(
  database: Pick<Database, "db">,
  sets: readonly MigrationSet[],
): Promise<Record<string, string[]>> {
  return await database.db.connection().execute(async (connection) => {
    const ledgers = await findLedgerSchema(connection);
    const done = await readLedgers({ connection, ledgers, sets });
    return Object.fromEntries([...done].map(([owner, names]) => [owner, [...names].toSorted()]));
  });
}

/** The libraries whose tables are not yet what this version needs. Throws when they are beyond it. */
async function listBehind(libraries: readonly LibraryTables[]): Promise<LibraryTables[]> {
  const behind: LibraryTables[] = [];
  for (const library of libraries) {
    const has = (await library.has()) ?? -1;
    if (has > library.needs) {
      throw newerDatabase(`${library.owner} ${has}`);
    }
    if (has < library.needs) {
      behind.push(library);
    }
  }
  return behind;
}

const libraryKey = ({ owner, needs }: LibraryTables) => `${owner} ${needs}`;

function newerDatabase(what: string): StorageError {
  return new StorageError(
    `The database is newer than this version: it has ${what}, which this version does not know. Start the newer version, or restore the backup made before the upgrade`,
  );
}

function refusePending(pending: readonly string[]): void {
  if (pending.length > 0) {
    throw new StorageError(
      `The database lacks ${pending.length} migration steps (${pending.join(", ")}), and migrations are switched off. Run them before this version can serve`,
    );
  }
}

function runStep({ connection, ledgers, step, log }: RunStep): Promise<void> {
  return told(stepKey(step), log, () =>
    connection.transaction().execute(async (tx) => {
      await step.migration.up(tx);
      await sql`insert into ${sql.id(ledgers, step.owner)} (name, executed_at) values (${step.name}, ${seconds()})`.execute(
        tx,
      );
    }),
  );
}

interface RunStep {
  connection: Kysely<any>;
  ledgers: string;
  step: Step;
  log(message: string): void;
}

/** Names the step before it runs, and in the error when it fails. */
async function told(name: string, log: (message: string) => void, run: () => Promise<void>): Promise<void> {
  log(`Migrating ${name}`);
  try {
    await run();
  } catch (error) {
    throw new StorageError(
      `Migration ${name} failed, and nothing of it was kept: ${(error as Error).message}`,
      {
        cause: error,
      },
    );
  }
}
