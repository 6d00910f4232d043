import { createHash } from "node:crypto";
import { createWriteStream } from "node:fs";
import { mkdir } from "node:fs/promises";
import { dirname, resolve, sep } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { type Kysely, sql } from "kysely";
import type { Blobs } from "../blobs.ts";
import { StorageError } from "../errors.ts";
import { type LibraryTables, migrate, type MigrationSet, readLedger } from "../migrate.ts";
import { withoutStatementTimeout } from "../statement-timeout.ts";
import { type Entry, readArchive } from "./archive.ts";
import { dumpTables, readSequences, type TableCount } from "./dump.ts";
import { type Load, openLoad } from "./load.ts";
import { type Manifest, manifestName, parseManifest } from "./manifest.ts";
import { findSchemas, nameOf, readTables, type TableShape } from "./tables.ts";
import { type Installation, openSnapshot, secretsName } from "./write.ts";

// oxlint-disable typescript/no-explicit-any -- tables of every plugin are copied alike

/** Where a backup goes: an installation whose database may still be without tables. */
export interface Target extends Omit<Installation, "version" | "keyPrint"> {
  /** Makes the tables of the job queue. */
  readonly libraries: readonly LibraryTables[];
  /** A table that has rows as soon as somebody uses the installation. */
  readonly mainTable: string;
}

export interface RestoreOptions {
  /** Overwrites an installation that is in use. */
  readonly replaces?: boolean;
  progress?(step: string): void;
}

export interface Restored {
  readonly manifest: Manifest;
  readonly secrets: Readonly<Record<string, string>> | undefined;
}

/** Opens an archive from its begin; it is read twice. */
export type OpenArchive = () => Promise<Readable>;

/** An archive all of whose files are as the manifest says. */
export interface CheckedBackup {
  readonly open: OpenArchive;
  readonly manifest: Manifest;
}

/** Reads an archive to its end and compares every file with the manifest. Throws StorageError naming what differs. */
export async function checkBackup(open: OpenArchive): Promise<CheckedBackup> {
  const found = new Map<string, { size: number; sha256: string }>();
  let manifest: Manifest | undefined;
  for await (const entry of readArchive(await open())) {
    if (entry.name === manifestName) {
      manifest = parseManifest((await toBuffer(entry)).toString());
      continue;
    }
    const hash = createHash("sha256");
    for await (const piece of entry.bytes) {
      hash.update(piece);
    }
    found.set(entry.name, { size: entry.size, sha256: hash.digest("hex") });
  }
  if (manifest === undefined) {
    throw new StorageError("The file is no whole backup: it ends before its manifest.");
  }
  for (const { name, size, sha256 } of manifest.entries) {
    const seen = found.get(name);
    if (seen === undefined) {
      throw new StorageError(`The backup is damaged: ${name} is missing.`);
    }
    if (seen.size !== size || seen.sha256 !== sha256) {
      throw new StorageError(`The backup is damaged: ${name} differs from its sum in the manifest.`);
    }
  }
  return { open, manifest };
}

/**
 * Brings a backup that was checked into an installation. All rows go in with one transaction, which is kept only if every
 * table reads back as it was. Throws StorageError, and leaves nothing half restored.
 */
export async function restoreBackup(
  { open, manifest }: CheckedBackup,
  target: Target,
  options: RestoreOptions = {},
): Promise<Restored> {
  await prepare(target, manifest.ledger, options.replaces ?? false);
  return await withoutStatementTimeout(() => read(open, target, { manifest, options }));
}

async function read(
  open: OpenArchive,
  target: Target,
  { manifest, options }: { manifest: Manifest; options: RestoreOptions },
): Promise<Restored> {
  const written: string[] = [];
  const tx = await target.database.db.startTransaction().execute();
  let secrets: Restored["secrets"];
  try {
    const schemas = await findSchemas(tx, target.jobs.schema);
    const hasQueue = manifest.jobs === target.jobs.version;
    const tables = manifest.tables.filter(({ place }) => place === "own" || hasQueue);
    if (!hasQueue) {
      options.progress?.("Queued jobs are left out: they are of another version of the queue");
    }
    const byName = new Map<string, TableShape>(tables.map((table) => [nameOf(table), table]));
    const load = await openLoad(tx, schemas, tables);
    for await (const entry of readArchive(await open())) {
      const [kind, rest] = split(entry.name);
      if (kind === "database") {
        await addRows(load, byName.get(split(rest)[0]), entry, options);
      } else if (kind === "files") {
        await addFile(target.blobs, rest, entry, written);
      } else if (kind === "folders") {
        await addFolderFile(target.folders, rest, entry);
      } else if (entry.name === secretsName) {
        secrets = JSON.parse((await toBuffer(entry)).toString()) as Record<string, string>;
      } else {
        await toBuffer(entry);
      }
    }
    options.progress?.("Comparing every table");
    await load.finish(new Map(tables.map((table) => [nameOf(table), table])), manifest.sequences);
    await tx.commit().execute();
  } catch (error) {
    await tx
      .rollback()
      .execute()
      .catch(() => {});
    for (const key of written) {
      await target.blobs.remove(key).catch(() => {});
    }
    throw error;
  }
  // A backup of an older version comes to the state of this one.
  await migrate(target.database, target.migrations, { libraries: target.libraries });
  return { manifest, secrets };
}

/** The tables of the time of the backup, and a place that holds nothing, unless it may be overwritten. */
async function prepare(
  target: Target,
  ledger: Readonly<Record<string, readonly string[]>>,
  replaces: boolean,
): Promise<void> {
  const { database, migrations, libraries, mainTable } = target;
  const known = new Map(migrations.map((set) => [set.owner, set]));
  for (const [owner, names] of Object.entries(ledger)) {
    const unknown = names.find((name) => !Object.hasOwn(known.get(owner)?.migrations ?? {}, name));
    if (unknown !== undefined) {
      throw new StorageError(
        `The backup is of a newer version, or of one with other plugins: this one does not know ${owner} ${unknown}.`,
      );
    }
  }
  const before = await readLedger(database, migrations);
  const further = Object.entries(before).flatMap(([owner, names]) =>
    names.filter((name) => !ledger[owner]?.includes(name)).map((name) => `${owner} ${name}`),
  );
  if (!replaces) {
    await requireEmpty(database.db, mainTable);
  }
  if (further.length > 0) {
    throw new StorageError(
      `The database has tables of a newer version than the backup (${further[0]}). Restore into an empty database; it is brought to this version afterwards.`,
    );
  }
  await migrate(
    database,
    migrations.map((set) => atThatTime(set, ledger[set.owner] ?? [])),
    { libraries },
  );
}

function atThatTime({ owner, migrations }: MigrationSet, names: readonly string[]): MigrationSet {
  const then = Object.entries(migrations).filter(([name]) => names.includes(name));
  return { owner, migrations: Object.fromEntries(then) };
}

async function requireEmpty(db: Kysely<any>, table: string): Promise<void> {
  const { rows: found } = await sql`select 1 where to_regclass(${`"${table}"`}) is not null`.execute(db);
  if (found.length === 0) {
    return;
  }
  const { rows } = await sql<{ count: string }>`select count(*)::text as count from ${sql.id(table)}`.execute(
    db,
  );
  if (rows[0]?.count !== "0") {
    throw new StorageError(
      `The database is in use: ${rows[0]?.count} accounts are in it. Restore into an empty one, or add --replace to overwrite everything in it.`,
    );
  }
}

/** Copies the rows of a database into another one, without an archive between them, and compares every table. */
export async function moveDatabase(
  from: Pick<Installation, "database" | "migrations" | "jobs">,
  target: Target,
  options: RestoreOptions = {},
): Promise<{ rows: number }> {
  const ledger = await readLedger(from.database, from.migrations);
  await prepare(target, ledger, options.replaces ?? false);
  return await withoutStatementTimeout(async () => {
    const snapshot = await openSnapshot(from.database, false);
    const tx = await target.database.db.startTransaction().execute();
    try {
      const schemas = await findSchemas(snapshot.tx, from.jobs.schema);
      const tables = await readTables(snapshot.tx, schemas);
      const counts = new Map<string, TableCount>();
      const load = await openLoad(tx, await findSchemas(tx, target.jobs.schema), tables);
      const counted = (table: TableShape, count: TableCount) => {
        counts.set(nameOf(table), count);
        options.progress?.(`${table.name}: ${count.rows} rows`);
      };
      for await (const part of dumpTables(snapshot.tx, schemas, tables, counted)) {
        await load.add(part);
      }
      options.progress?.("Comparing every table");
      await load.finish(counts, await readSequences(snapshot.tx, schemas));
      await tx.commit().execute();
      await migrate(target.database, target.migrations, { libraries: target.libraries });
      return { rows: [...counts.values()].reduce((sum, { rows }) => sum + rows, 0) };
    } catch (error) {
      await tx
        .rollback()
        .execute()
        .catch(() => {});
      throw error;
    } finally {
      await snapshot.close();
    }
  });
}

async function addRows(
  load: Load,
  table: TableShape | undefined,
  entry: Entry,
  { progress }: RestoreOptions,
): Promise<void> {
  const text = (await toBuffer(entry)).toString();
  // Rows of a queue that is left out.
  if (table !== undefined) {
    await load.add({ table, lines: text.split("\n").slice(0, -1) });
    progress?.(`${table.name}: rows are read`);
  }
}

async function addFile(blobs: Blobs, key: string, entry: Entry, written: string[]): Promise<void> {
  const isNew = (await blobs.size(key)) === undefined;
  await blobs.write(key, entry.bytes);
  if (isNew) {
    written.push(key);
  }
}

async function addFolderFile(
  folders: Readonly<Record<string, string>>,
  place: string,
  entry: Entry,
): Promise<void> {
  const [name, path] = split(place);
  const folder = folders[name];
  const file = folder === undefined ? undefined : resolve(folder, path);
  if (folder === undefined || file === undefined || !file.startsWith(resolve(folder) + sep)) {
    throw new StorageError(`The backup has files for a folder that is not set here: ${name}`);
  }
  await mkdir(dirname(file), { recursive: true });
  await pipeline(Readable.from(entry.bytes), createWriteStream(file));
}

function split(name: string): [string, string] {
  const at = name.indexOf("/");
  return at < 0 ? [name, ""] : [name.slice(0, at), name.slice(at + 1)];
}

async function toBuffer({ bytes }: Entry): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  for await (const piece of bytes) {
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}
