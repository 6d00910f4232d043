import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { InstallationCommand, InstallationContext } from "#kernel/installation.ts";
import { BootError } from "#kernel/order.ts";
import { askServer } from "#storage/backup/door.ts";
import type { Manifest } from "#storage/backup/manifest.ts";
import { checkBackup, moveDatabase, restoreBackup } from "#storage/backup/restore.ts";
import { isInUse } from "#storage/embedded/lock.ts";
import { findAddress } from "./place.ts";
import { takeBackup, verifyBackup } from "./take.ts";

const secretKeyName = "WEBUI_SECRET_KEY";

/** The word that says where, also when it stands behind a flag. */
function wordOf({ words, options }: InstallationContext, usage: string): string {
  const found = words[0] ?? Object.values(options).find((value) => value !== "");
  if (found === undefined) {
    throw new BootError(usage);
  }
  return found;
}

const megabytes = (bytes: number) => `${(bytes / 1024 / 1024).toFixed(1)} MB`;

export const backupCommand: InstallationCommand = {
  name: "backup",
  summary:
    "<file, folder or s3://bucket/key>: back up database, files and workspaces, also while the server runs",
  options: { secrets: "put WEBUI_SECRET_KEY into the backup as well" },
  async runOn(context) {
    const { config, options, print } = context;
    const target = wordOf(context, "Say where to: npm run backup -- <file, folder or s3://bucket/key>");
    const secrets = "secrets" in options ? { [secretKeyName]: config.secretKey ?? "" } : undefined;
    const address = await findAddress(target, config);
    const path = `${address.place.title}/${address.name}`;
    let installation;
    try {
      installation = await context.open();
    } catch (error) {
      if (!isInUse(error)) {
        throw error;
      }
      // The embedded database belongs to the running server, which writes the backup itself.
      const { size } = await askServer(config.dataDir, { target: path, ...(secrets && { secrets }) }, print);
      print(`Backed up to ${path} (${megabytes(size)})`);
      return;
    }
    try {
      const { size } = await takeBackup(installation, address, {
        isServing: false,
        progress: print,
        ...(secrets && { secrets }),
      });
      print(`Backed up to ${path} (${megabytes(size)})`);
    } finally {
      await installation.close();
    }
  },
};

export const restoreCommand: InstallationCommand = {
  name: "restore",
  summary: "<file or s3://bucket/key>: bring a backup into an empty installation",
  options: {
    replace: "overwrite an installation that is in use",
    verify: "restore into a scratch place, compare, and remove it",
  },
  async runOn(context) {
    const { config, options, print } = context;
    const source = wordOf(context, "Say which: npm run restore -- <file or s3://bucket/key>");
    const { place, name } = await findAddress(source, config);
    const open = () => place.open(name);
    if ("verify" in options) {
      const { dataDir } = config;
      const manifest = await verifyBackup(open, { dataDir, openInstallation: context.open, progress: print });
      print(`The backup comes back whole: ${describe(manifest)}`);
      return;
    }
    print("Checking the backup");
    const backup = await checkBackup(open);
    const installation = await context.open();
    try {
      const { manifest, secrets } = await restoreBackup(backup, installation, {
        replaces: "replace" in options,
        progress: print,
      });
      print(`Restored: ${describe(manifest)}`);
      if (secrets?.[secretKeyName]) {
        const path = join(config.dataDir, "restored-secrets.env");
        await writeFile(path, `${secretKeyName}=${secrets[secretKeyName]}\n`, { mode: 0o600 });
        print(`The secret key of the backup stands in ${path}: start the server with it.`);
      } else if (manifest.key_print !== installation.keyPrint) {
        print(
          manifest.key_print === null
            ? `${secretKeyName} is set here and was not set where the backup was made: people sign in again.`
            : `${secretKeyName} is not the one of the backup: set that one, or stored credentials cannot be read.`,
        );
      }
    } finally {
      await installation.close();
    }
  },
};

export const moveCommand: InstallationCommand = {
  name: "move",
  summary: "move the database to a server, or back into DATA_DIR",
  options: {
    to: "postgres://user:password@host:5432/name, or embedded",
    replace: "overwrite a database that is in use",
  },
  async runOn({ open, options, print }) {
    const to = options["to"];
    if (!to) {
      throw new BootError("Say where to: npm run move -- --to postgres://… (or --to embedded)");
    }
    const url = to === "embedded" ? null : to;
    const from = await open();
    try {
      if (from.database.kind === "embedded" && url === null) {
        throw new BootError("The database is the embedded one already.");
      }
      const target = await open({ url });
      try {
        const { rows } = await moveDatabase(from, target, {
          replaces: "replace" in options,
          progress: print,
        });
        print(
          `Moved ${rows} rows, and every table is the same in both. Start the server ${url === null ? "without DATABASE_URL" : "with DATABASE_URL set to the new address"}; the old database stays as it is.`,
        );
      } finally {
        await target.close();
      }
    } finally {
      await from.close();
    }
  },
};

function describe({ tables, files, created_at: at, version }: Manifest): string {
  const rows = tables.reduce((sum, table) => sum + table.rows, 0);
  return `${rows} rows in ${tables.length} tables and ${files.count} files, as of ${at}, written by version ${version}`;
}
