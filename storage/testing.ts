import { createHash, randomUUID } from "node:crypto";
import { constants, cpSync } from "node:fs";
import { mkdir, mkdtemp, readFile, readdir, rename, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Client } from "pg";
import { CORE_OWNER, coreMigrations } from "./core-migrations.ts";
import { openDatabase, type Database } from "./database.ts";
import { EMBEDDED_FOLDER } from "./embedded/open.ts";
import { migrate, type MigrationSet } from "./migrate.ts";

// Real databases for tests: an embedded one per call, copied from a migrated template in well under a second,
// or a fresh database on the server that TEST_DATABASE_URL names.

/**
 * Opens a fresh migrated database; closing it removes it. The platform's own tables are always there,
 * `sets` adds those of plugins.
 */
export async function openTestDatabase(
  sets: readonly MigrationSet[] = [],
  kind: Database["kind"] = defaultKind(),
): Promise<Database & { dataDir: string }> {
  const place = await prepareTestDataDir(sets, kind);
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

/** A migrated database for a process that opens it by itself: the environment to give it, and the way to clean up. */
export async function prepareTestDataDir(
  sets: readonly MigrationSet[] = [],
  kind: Database["kind"] = defaultKind(),
): Promise<{ env: Record<string, string>; remove(): Promise<void> }> {
  const all = withCore(sets);
  const dataDir = await mkdtemp(join(tmpdir(), "data-"));
  const removeFolder = () => rm(dataDir, { recursive: true, force: true });
  if (kind === "server") {
    const { url, drop } = await createServerDatabase(requireTestServer(), all);
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

/** The server that TEST_DATABASE_URL names; tests of server behaviour are left out without one. */
export function findTestServer(): string | undefined {
  // oxlint-disable-next-line node/no-process-env -- set by whoever runs the tests, not a variable of the product
  return process.env.TEST_DATABASE_URL || undefined;
}

function requireTestServer(): string {
  const server = findTestServer();
  if (!server) {
    throw new Error("TEST_DATABASE_URL is needed for tests on a server");
  }
  return server;
}

function defaultKind(): Database["kind"] {
  return findTestServer() ? "server" : "embedded";
}

function withCore(sets: readonly MigrationSet[]): readonly MigrationSet[] {
  return sets.some(({ owner }) => owner === CORE_OWNER)
    ? sets
    : [{ owner: CORE_OWNER, migrations: coreMigrations }, ...sets];
}

async function createServerDatabase(
  server: string,
  sets: readonly MigrationSet[],
): Promise<{ url: string; drop(): Promise<void> }> {
  const name = `test_${randomUUID().replaceAll("-", "")}`;
  await runOn(server, `create database ${name}`);
  const url = new URL(server);
  url.pathname = `/${name}`;
  const drop = () => runOn(server, `drop database if exists ${name} with (force)`);
  const database = await openDatabase({ url: url.href, dataDir: tmpdir(), pool: { size: 2 } });
  try {
    await migrate(database, sets);
  } catch (error) {
    await database.close();
    await drop();
    throw error;
  }
  await database.close();
  return { url: url.href, drop };
}

async function runOn(server: string, statement: string): Promise<void> {
  const client = new Client({ connectionString: server });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}

const CACHE = fileURLToPath(new URL("../node_modules/.cache/databases/", import.meta.url));

/** The folder of a closed database with these migrations, made once and built on that of an empty database. */
async function findTemplate(sets: readonly MigrationSet[]): Promise<string> {
  const template = join(CACHE, await templateKey(sets));
  if (await exists(template)) {
    return template;
  }
  await mkdir(CACHE, { recursive: true });
  await removeOldTemplates();
  const building = await mkdtemp(join(CACHE, "building-"));
  try {
    if (sets.length > 0) {
      copyFolder(await findTemplate([]), building);
    }
    const database = await openDatabase({ dataDir: building });
    try {
      await migrate(database, sets);
    } finally {
      await database.close();
    }
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

/** Changes with the database's version and with every migration's text. */
async function templateKey(sets: readonly MigrationSet[]): Promise<string> {
  const hash = createHash("sha256");
  hash.update(await readFile(new URL("../node_modules/@electric-sql/pglite/package.json", import.meta.url)));
  if (sets.length > 0) {
    hash.update(await readFile(new URL("core-migrations.ts", import.meta.url)));
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
