import { createHash, randomUUID } from "node:crypto";
import { constants, cpSync } from "node:fs";
import { mkdir, mkdtemp, readFile, readdir, rename, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Client } from "pg";
import { CORE_OWNER, coreMigrations } from "./core-migrations.ts";
import { openDatabase, type Database } from "./database.ts";
import { EMBEDDED_FOLDER } from "./embedded/folder.ts";
import { type LibraryTables, migrate, type MigrationSet } from "./migrate.ts";
import { addMovedClock, moveClockOfDatabase } from "./moved-clock.fixture.ts";

// Real databases for tests, each a copy of a migrated template: on the server of the test run (20 ms), or embedded in
// a folder (half a second) for the suites that are about that.

export interface TestTables {
  readonly sets?: readonly MigrationSet[];
  /** Tables that libraries make by themselves. */
  libraries?(database: Database): readonly LibraryTables[];
}

/**
 * Opens a fresh migrated database; closing it removes it. The platform's own tables are always there,
 * `sets` adds those of plugins.
 */
export async function openTestDatabase(
  sets: readonly MigrationSet[] = [],
  kind: Database["kind"] = databaseKind(),
): Promise<Database & { dataDir: string }> {
  const place = await prepareTestDataDir({ sets }, kind);
  try {
    const database = await openDatabase({
      url: place.env.DATABASE_URL,
      dataDir: place.env.DATA_DIR!,
      pool: { size: 5 },
      disposable: true,
    });
    const close = async () => {
      await database.close();
      await place.remove();
    };
    return { ...database, dataDir: place.env.DATA_DIR!, close };
  } catch (error) {
    await place.remove();
    throw error;
  }
}

/** A folder with a migrated database: the environment for a process that opens it by itself, and the way to clean up. */
export interface TestDataDir {
  readonly env: Record<string, string>;
  remove(): Promise<void>;
}

/** Makes a data folder with a migrated database of `kind`. */
export async function prepareTestDataDir(
  tables: TestTables = {},
  kind: Database["kind"] = databaseKind(),
): Promise<TestDataDir> {
  const all = { ...tables, sets: withCore(tables.sets ?? []) };
  const dataDir = await mkdtemp(join(tmpdir(), "data-"));
  const removeFolder = () => rm(dataDir, { recursive: true, force: true });
  if (kind === "server") {
    const { url, drop } = await cloneServerDatabase(all);
    return {
      env: { DATA_DIR: dataDir, DATABASE_URL: url },
      remove: async () => {
        await drop();
        await removeFolder();
      },
    };
  }
  const template = await findTemplate(all);
  copyFolder(join(template, EMBEDDED_FOLDER), join(dataDir, EMBEDDED_FOLDER));
  return { env: { DATA_DIR: dataDir }, remove: removeFolder };
}

/** Address of the test run's server; the run's set-up starts one when TEST_DATABASE_URL names none. */
export function testServer(): string {
  // oxlint-disable-next-line node/no-process-env -- belongs to the test run, not a variable of the product
  const url = process.env.TEST_DATABASE_URL;
  if (!url) {
    throw new Error("TEST_DATABASE_URL is not set: tests run through vitest, whose set-up starts a server");
  }
  return url;
}

/** Removes every database that this run made on its server. */
export async function dropTestDatabases(): Promise<void> {
  await withClient(testServer(), async (client) => {
    const { rows } = await client.query<{ datname: string }>(
      "select datname from pg_database where starts_with(datname, $1)",
      [databasePrefix()],
    );
    for (const { datname } of rows) {
      await client.query(`drop database if exists ${datname} with (force)`);
    }
  });
}

/** What a test gets that names no kind: a server, or the embedded database in suites with TEST_DATABASE=embedded. */
export function databaseKind(): Database["kind"] {
  // oxlint-disable-next-line node/no-process-env -- belongs to the test run, not a variable of the product
  return process.env.TEST_DATABASE === "embedded" ? "embedded" : "server";
}

function withCore(sets: readonly MigrationSet[]): readonly MigrationSet[] {
  return sets.some(({ owner }) => owner === CORE_OWNER)
    ? sets
    : [{ owner: CORE_OWNER, migrations: coreMigrations }, ...sets];
}

/** Databases of one run share it, so that runs on one server do not meet. */
function databasePrefix(): string {
  // oxlint-disable-next-line node/no-process-env -- belongs to the test run, not a variable of the product
  return `test_${process.env.TEST_RUN_ID ?? "single"}_`;
}

/** Names of the databases that this process made and did not drop yet. */
export const openTestDatabases: Set<string> = new Set();

async function cloneServerDatabase(tables: AllTables): Promise<{ url: string; drop(): Promise<void> }> {
  const server = testServer();
  const name = `${databasePrefix()}${randomUUID().replaceAll("-", "")}`;
  await withClient(server, async (client) => {
    const template = await findServerTemplate(client, tables);
    await client.query(`create database ${name} template ${template}`);
    await moveClockOfDatabase(client, name);
  });
  openTestDatabases.add(name);
  const drop = async () => {
    openTestDatabases.delete(name);
    await withClient(server, (client) => client.query(`drop database ${name} with (force)`));
  };
  return { url: toDatabaseUrl(server, name), drop };
}

/** Name of the run's migrated template for these tables. Of several workers that need it first, one makes it. */
async function findServerTemplate(client: Client, tables: AllTables): Promise<string> {
  const name = `${databasePrefix()}template_${await templateKey(tables)}`;
  const exists = async () =>
    (await client.query("select 1 from pg_database where datname = $1", [name])).rows.length > 0;
  if (await exists()) {
    return name;
  }
  await client.query("select pg_advisory_lock(hashtext($1))", [name]);
  try {
    if (!(await exists())) {
      const building = `${name}_building`;
      await client.query(`drop database if exists ${building} with (force)`);
      await client.query(`create database ${building}`);
      const url = toDatabaseUrl(testServer(), building);
      await withClient(url, addMovedClock);
      await moveClockOfDatabase(client, building);
      await migrateInto({ url, dataDir: tmpdir() }, tables);
      await client.query(`alter database ${building} rename to ${name}`);
    }
  } finally {
    await client.query("select pg_advisory_unlock(hashtext($1))", [name]);
  }
  return name;
}

async function migrateInto(
  place: { url?: string; dataDir: string },
  { sets, libraries }: AllTables,
): Promise<void> {
  const database = await openDatabase({ ...place, pool: { size: 2 } });
  try {
    await migrate(database, sets, { libraries: libraries?.(database) ?? [] });
  } finally {
    await database.close();
  }
}

function toDatabaseUrl(server: string, name: string): string {
  const url = new URL(server);
  url.pathname = `/${name}`;
  return url.href;
}

async function withClient<T>(server: string, run: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: server });
  await client.connect();
  try {
    return await run(client);
  } finally {
    await client.end();
  }
}

type AllTables = TestTables & { readonly sets: readonly MigrationSet[] };

const CACHE = fileURLToPath(new URL("../node_modules/.cache/databases/", import.meta.url));

/** The folder of a closed database with these migrations, made once and built on that of an empty database. */
async function findTemplate(tables: AllTables): Promise<string> {
  const template = join(CACHE, await templateKey(tables));
  if (await exists(template)) {
    return template;
  }
  await mkdir(CACHE, { recursive: true });
  await removeOldTemplates();
  const building = await mkdtemp(join(CACHE, "building-"));
  try {
    if (tables.sets.length > 0) {
      copyFolder(await findTemplate({ sets: [] }), building);
    }
    await migrateInto({ dataDir: building }, tables);
    // Several suites may build at once; the first to finish wins.
    await rename(building, template);
  } catch (error) {
    await rm(building, { recursive: true, force: true });
    if (!(await exists(template))) {
      throw error;
    }
  }
  return template;
}

/** Changes with the database's version, the libraries that make tables, and every migration's text. */
async function templateKey({ sets, libraries }: AllTables): Promise<string> {
  const hash = createHash("sha256");
  hash.update(await readFile(new URL("../node_modules/@electric-sql/pglite/package.json", import.meta.url)));
  if (sets.length > 0) {
    hash.update(await readFile(new URL("core-migrations.ts", import.meta.url)));
  }
  if (libraries) {
    hash.update(await readFile(new URL("../package-lock.json", import.meta.url)));
  }
  for (const { owner, migrations } of sets) {
    for (const name of Object.keys(migrations).toSorted()) {
      hash.update(`\0${owner}\0${name}\0${migrations[name]!.up.toString()}`);
    }
  }
  return hash.digest("hex").slice(0, 24);
}

const KEPT_MS = 3 * 24 * 3600 * 1000;

/** Each changed migration leaves a template behind. */
async function removeOldTemplates(): Promise<void> {
  for (const name of await readdir(CACHE)) {
    const path = join(CACHE, name);
    const entry = await stat(path).catch(() => undefined);
    if (entry && Date.now() - entry.mtimeMs > KEPT_MS) {
      await rm(path, { recursive: true, force: true });
    }
  }
}

/** A thousand small files: copying them without asynchronous calls takes a third of the time. */
function copyFolder(from: string, to: string): void {
  cpSync(from, to, { recursive: true, mode: constants.COPYFILE_FICLONE });
}

async function exists(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined)) !== undefined;
}
