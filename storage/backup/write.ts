import { createReadStream } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import { Readable } from "node:stream";
import type { Blobs } from "../blobs.ts";
import { type Database, openDatabase } from "../database.ts";
import { StorageError } from "../errors.ts";
import { type MigrationSet, readLedger } from "../migrate.ts";
import { type Entry, packArchive } from "./archive.ts";
import { dumpTables, readSequences, type TableCount } from "./dump.ts";
import { type Manifest, manifestName } from "./manifest.ts";
import { findSchemas, nameOf, readTables, type TableShape } from "./tables.ts";

/** What a backup is made of. */
export interface Installation {
  readonly database: Database;
  readonly blobs: Blobs;
  readonly migrations: readonly MigrationSet[];
  /** The schema of the job queue and its library's number of the tables. */
  readonly jobs: { readonly schema: string; readonly version: number };
  readonly version: string;
  /** Folders beside the files of people, by the name that they have in the archive. */
  readonly folders: Readonly<Record<string, string>>;
  readonly keyPrint: string | null;
}

export interface BackupOptions {
  /** Others write to the embedded database meanwhile: a copy of its files is read instead. */
  readonly isServing: boolean;
  /** Kept in the archive as they are, by name. */
  readonly secrets?: Readonly<Record<string, string>>;
  progress?(step: string): void;
}

export const secretsName = "secrets.json";

/** The archive of an installation as it is at one moment, made while it is read. */
export function writeBackup(installation: Installation, options: BackupOptions): Readable {
  const facts: { -readonly [name in keyof Manifest]?: Manifest[name] } = {};
  return packArchive(collect(installation, options, facts), (entries) => {
    const manifest = { ...facts, entries } as Manifest;
    return { name: manifestName, content: Buffer.from(JSON.stringify(manifest)) };
  });
}

type Facts = { -readonly [name in keyof Manifest]?: Manifest[name] };

async function* collect(
  installation: Installation,
  options: BackupOptions,
  facts: Facts,
): AsyncGenerator<Entry> {
  const { version, keyPrint, database, migrations } = installation;
  Object.assign(facts, {
    format: 1,
    version,
    created_at: new Date().toISOString(),
    database: database.kind,
    key_print: keyPrint,
    ledger: await readLedger(database, migrations),
  } satisfies Facts);
  // First the rows: bytes of files that come later do no harm, since their rows are not there.
  yield* databaseEntries(installation, options, facts);
  facts.files = { count: 0, bytes: 0 };
  yield* blobEntries(installation, options, facts.files);
  yield* folderEntries(installation.folders);
  if (options.secrets !== undefined) {
    yield toEntry(secretsName, JSON.stringify(options.secrets));
  }
}

async function* databaseEntries(
  { database, jobs }: Installation,
  { isServing, progress }: BackupOptions,
  facts: Facts,
): AsyncGenerator<Entry> {
  const snapshot = await openSnapshot(database, isServing);
  try {
    const { tx } = snapshot;
    const schemas = await findSchemas(tx, jobs.schema);
    const tables = await readTables(tx, schemas);
    if (tables.length === 0) {
      throw new StorageError("There is nothing to back up: the database has no tables.");
    }
    const counts = new Map<string, TableCount>();
    const counted = (table: TableShape, count: TableCount) => {
      counts.set(nameOf(table), count);
      progress?.(`${table.name}: ${count.rows} rows`);
    };
    let number = 0;
    for await (const { table, lines } of dumpTables(tx, schemas, tables, counted)) {
      number += 1;
      yield toEntry(`database/${nameOf(table)}/${number}.ndjson`, `${lines.join("\n")}\n`);
    }
    facts.jobs = tables.some(({ place }) => place === "jobs") ? jobs.version : null;
    facts.tables = tables.map((table) => ({
      ...table,
      columns: [...table.columns],
      ...(counts.get(nameOf(table)) as TableCount),
    }));
    facts.sequences = await readSequences(tx, schemas);
  } finally {
    await snapshot.close();
  }
}

/** A transaction that sees the database at one moment. */
export async function openSnapshot(database: Database, isServing: boolean) {
  if (database.kind === "embedded" && isServing) {
    // It has one connection: a long transaction would be in everybody's way.
    const copy = await database.copy();
    try {
      const opened = await openDatabase({ dataDir: copy.folder, disposable: true });
      const snapshot = await begin(opened);
      return {
        tx: snapshot.tx,
        async close() {
          await snapshot.close();
          await opened.close();
          await copy.remove();
        },
      };
    } catch (error) {
      await copy.remove();
      throw error;
    }
  }
  return await begin(database);
}

async function begin({ db }: Database) {
  const tx = await db
    .startTransaction()
    .setIsolationLevel("repeatable read")
    .setAccessMode("read only")
    .execute();
  return { tx, close: async () => void (await tx.rollback().execute()) };
}

async function* blobEntries(
  { blobs }: Installation,
  { progress }: BackupOptions,
  files: { count: number; bytes: number },
): AsyncGenerator<Entry> {
  const keys = await blobs.keys();
  for (const key of keys) {
    const size = await blobs.size(key);
    const bytes = size === undefined ? undefined : await blobs.read(key);
    // Removed since the keys were listed.
    if (size === undefined || bytes === undefined) {
      continue;
    }
    yield { name: `files/${key}`, size, bytes };
    files.count += 1;
    files.bytes += size;
    if (files.count % 100 === 0) {
      progress?.(`files: ${files.count} of ${keys.length}`);
    }
  }
  progress?.(`files: ${files.count}`);
}

async function* folderEntries(folders: Readonly<Record<string, string>>): AsyncGenerator<Entry> {
  for (const [name, folder] of Object.entries(folders)) {
    for await (const path of listFiles(folder)) {
      const { size } = await stat(path);
      const key = relative(folder, path).split(sep).join("/");
      yield { name: `folders/${name}/${key}`, size, bytes: sized(createReadStream(path), size) };
    }
  }
}

/** Programs write on while their files are copied: what came after the size was read is left out. */
async function* sized(bytes: AsyncIterable<Buffer>, size: number): AsyncGenerator<Uint8Array> {
  let left = size;
  for await (const piece of bytes) {
    yield piece.subarray(0, left);
    left -= Math.min(left, piece.length);
    if (left === 0) {
      return;
    }
  }
  yield Buffer.alloc(left);
}

async function* listFiles(folder: string): AsyncGenerator<string> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  for (const entry of entries) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) {
      yield* listFiles(path);
    } else if (entry.isFile()) {
      yield path;
    }
  }
}

function toEntry(name: string, text: string): Entry {
  const content = Buffer.from(text);
  return { name, size: content.length, bytes: Readable.from([content]) };
}
