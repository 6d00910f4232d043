import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import type { OpenInstallation, Elsewhere } from "#kernel/installation.ts";
import type { Manifest } from "#storage/backup/manifest.ts";
import { checkBackup, type OpenArchive, restoreBackup } from "#storage/backup/restore.ts";
import { type BackupOptions, type Installation, writeBackup } from "#storage/backup/write.ts";
import { makeFolder } from "#storage/make-folder.ts";
import type { Address } from "./place.ts";

/** Writes a backup of an installation to its place. */
export async function takeBackup(
  installation: Installation,
  { place, name }: Address,
  options: BackupOptions,
): Promise<{ size: number }> {
  return await place.write(name, writeBackup(installation, options));
}

/**
 * Restores a backup into an embedded database and a folder that are removed afterwards, compares every table, brings it to
 * this version, and resolves to its manifest. Throws StorageError for a backup that would not come back.
 */
export async function verifyBackup(
  open: OpenArchive,
  { dataDir, openInstallation, progress }: Verification,
): Promise<Manifest> {
  progress("Checking the backup");
  const backup = await checkBackup(open);
  await makeFolder(dataDir);
  const scratch = await mkdtemp(join(dataDir, "verify-backup-"));
  try {
    const installation = await openInstallation({ url: null, dataDir: scratch });
    try {
      const { manifest } = await restoreBackup(backup, installation, { progress });
      return manifest;
    } finally {
      await installation.close();
    }
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

interface Verification {
  readonly dataDir: string;
  openInstallation(elsewhere: Elsewhere): Promise<OpenInstallation>;
  progress(step: string): void;
}
