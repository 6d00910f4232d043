import { createHash } from "node:crypto";
import { databaseUrl } from "#config/core-database.ts";
import type { CoreConfig } from "#config/core.ts";
import { openBlobs } from "#storage/blobs.ts";
import { openDatabase } from "#storage/database.ts";
import type { Elsewhere, OpenInstallation } from "./installation.ts";
import type { AnyPlugin } from "./plugin.ts";
import { toMigrationSets, version } from "./release.ts";
import type { Values, Variables } from "#config/variable.ts";
import { jobSchema, jobTables, jobTablesVersion } from "./job-tables.ts";

/** Settings and plugins, known before a database is opened. */
interface Parts {
  readonly config: CoreConfig;
  readonly plugins: readonly AnyPlugin[];
  readonly configs: ReadonlyMap<AnyPlugin, Values<Variables>>;
}

/** Facts of an installation for its backups, beside its database and its files. */
export function describeInstallation({ config, configs, plugins }: Parts) {
  const folders = plugins.map((plugin) => plugin.folders?.(configs.get(plugin) ?? {}) ?? {});
  return {
    migrations: toMigrationSets(plugins),
    jobs: { schema: jobSchema(config), version: jobTablesVersion },
    version,
    folders: Object.assign({}, ...folders) as Record<string, string>,
    keyPrint: config.secretKey ? toPrint(config.secretKey) : null,
  };
}

/** Opens an installation as it is, without bringing its tables to this version. Throws StorageError. */
export async function openInstallation(parts: Parts, elsewhere: Elsewhere = {}): Promise<OpenInstallation> {
  const { config } = parts;
  const dataDir = elsewhere.dataDir ?? config.dataDir;
  const url = elsewhere.url === undefined ? databaseUrl(config) : elsewhere.url;
  const database = await openDatabase({
    ...(url === null ? {} : { url }),
    dataDir,
    schema: config.databaseSchema,
    // Long statements are part of the work.
    pool: { size: 2, queryTimeoutSeconds: 0 },
  });
  try {
    const blobs = await openBlobs(elsewhere.dataDir === undefined ? config : { dataDir });
    const described = describeInstallation(parts);
    return {
      ...described,
      database,
      blobs,
      folders: elsewhere.dataDir === undefined ? described.folders : below(dataDir, described.folders),
      libraries: [jobTables(database, described.jobs.schema)],
      mainTable: "user",
      close: () => database.close(),
    };
  } catch (error) {
    await database.close();
    throw error;
  }
}

/** Folders of an installation in another place. */
function below(dataDir: string, folders: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.keys(folders).map((name) => [name, `${dataDir}/${name}`]));
}

/** Two servers with the same key have the same print. */
function toPrint(key: string): string {
  return createHash("sha256").update(`print of the secret key\0${key}`).digest("hex").slice(0, 16);
}
