import { randomUUID } from "node:crypto";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { AppError } from "#kernel/errors.ts";
import type { OwnInstallation } from "#kernel/installation.ts";
import type { Logger } from "#kernel/log.ts";
import type { PluginDatabase } from "#kernel/plugin.ts";
import type { Values } from "#config/variable.ts";
import { seconds } from "#storage/clock.ts";
import { StorageError } from "#storage/errors.ts";
import type { backupConfig } from "./config.ts";
import { type Address, findAddress } from "./place.ts";
import type { BackupRow, BackupTables } from "./tables.ts";
import { takeBackup, verifyBackup } from "./take.ts";

const listed = 100;
const verifyEverySeconds = 7 * 24 * 3600;
export const periods = { hourly: 3600, daily: 24 * 3600, weekly: 7 * 24 * 3600 } as const;

export interface OwnBackupParts {
  readonly db: PluginDatabase<BackupTables>;
  readonly config: Values<typeof backupConfig>;
  readonly installation: OwnInstallation;
  readonly log: Logger;
}

/** The backups that the server takes of itself. */
export class OwnBackups {
  readonly #parts: OwnBackupParts;

  constructor(parts: OwnBackupParts) {
    this.#parts = parts;
  }

  /** Where the next one goes. */
  get target(): string {
    const { target, dataDir } = this.#parts.config;
    return target || `${join(dataDir, "backups")}/`;
  }

  async take(): Promise<void> {
    const { db, config, installation, log } = this.#parts;
    const address = await findAddress(this.target, config);
    const id = randomUUID();
    const [place, name] = [address.place.title, address.name];
    await db.insertInto("backup").values({ id, started_at: seconds(), place, name }).execute();
    const finish = (values: Pick<BackupRow, "bytes"> | Pick<BackupRow, "error">) =>
      db
        .updateTable("backup")
        .set({ ...values, finished_at: seconds() })
        .where("id", "=", id)
        .execute();
    try {
      const { size } = await takeBackup(installation, address, { isServing: true });
      await finish({ bytes: size });
      log.info({ place, name, bytes: size }, "backed up");
    } catch (error) {
      await finish({ error: (error as Error).message });
      throw error;
    }
    await this.#removeOld();
  }

  /** Notes that a check of one was asked for; false when it is being checked already. */
  async askToVerify(id: string): Promise<boolean> {
    const { numUpdatedRows } = await this.#parts.db
      .updateTable("backup")
      .set({ verify_started_at: seconds() })
      .where("id", "=", id)
      .where("verify_started_at", "is", null)
      .executeTakeFirst();
    return numUpdatedRows > 0n;
  }

  /** Restores one into a scratch place and compares. An id that is gone is no error. */
  async verify(id: string): Promise<void> {
    const { db, log } = this.#parts;
    const row = await this.find(id);
    if (row === undefined) {
      return;
    }
    const note = (values: Partial<BackupRow>) =>
      db.updateTable("backup").set(values).where("id", "=", id).execute();
    await note({ verify_started_at: seconds() });
    const reason = await this.#compare(row).then(
      () => null,
      (error: Error) => {
        log.error({ err: error, name: row.name }, "a backup does not come back");
        return error.message;
      },
    );
    await note({ verified_at: seconds(), verify_error: reason, verify_started_at: null });
  }

  async #compare(row: BackupRow): Promise<void> {
    const { config, installation } = this.#parts;
    const { place, name } = await this.#addressOf(row);
    await verifyBackup(() => place.open(name), {
      dataDir: config.dataDir,
      openInstallation: (elsewhere) => installation.open(elsewhere),
      progress: () => {},
    });
  }

  /** Takes the backup that is due by the schedule, and verifies the newest one once a week. */
  async runSchedule(): Promise<void> {
    const { db, config } = this.#parts;
    if (config.schedule === "off") {
      return;
    }
    const newest = await this.#whole().executeTakeFirst();
    if (newest === undefined || seconds() - Number(newest.started_at) >= periods[config.schedule]) {
      await this.take();
    }
    const verified = await db
      .selectFrom("backup")
      .select(({ fn }) => fn.max("verified_at").as("at"))
      .executeTakeFirst();
    const last = await this.#whole().executeTakeFirst();
    if (last !== undefined && seconds() - Number(verified?.at ?? 0) >= verifyEverySeconds) {
      await this.verify(last.id);
    }
  }

  /** Says of backups that nobody takes or checks any more how that ended: their server was killed, or came out of a backup. */
  async closeAbandoned({ longestSeconds }: { readonly longestSeconds: number }): Promise<void> {
    const { db, installation } = this.#parts;
    // An embedded database has one server: at its start none is under way.
    const before = installation.database.kind === "embedded" ? seconds() : seconds() - longestSeconds;
    await db
      .updateTable("backup")
      .set({ finished_at: seconds(), error: "The server ended before the backup was whole." })
      .where("finished_at", "is", null)
      .where("started_at", "<=", before)
      .execute();
    await db
      .updateTable("backup")
      .set({ verify_started_at: null })
      .where("verify_started_at", "<=", before)
      .execute();
  }

  /** Newest first, those that failed or were removed included. */
  async list(): Promise<BackupRow[]> {
    return await this.#parts.db
      .selectFrom("backup")
      .selectAll()
      .orderBy("started_at", "desc")
      .limit(listed)
      .execute();
  }

  /** One that is whole and was not removed. */
  async find(id: string): Promise<BackupRow | undefined> {
    return await this.#whole().where("id", "=", id).executeTakeFirst();
  }

  /** The same; throws `not_found`. */
  async require(id: string): Promise<BackupRow> {
    const backup = await this.find(id);
    if (backup === undefined) {
      throw new AppError("not_found", "Backup not found");
    }
    return backup;
  }

  /** Its bytes. Throws `not_found` when somebody moved the file away. */
  async open(backup: BackupRow): Promise<Readable> {
    const { place, name } = await this.#addressOf(backup);
    return await place.open(name).catch((error: unknown) => {
      throw error instanceof StorageError ? new AppError("not_found", error.message) : error;
    });
  }

  /** Deletes the file, if it is there; the row says that it was. */
  async remove(backup: BackupRow): Promise<void> {
    const { place, name } = await this.#addressOf(backup);
    await place.remove(name);
    await this.#parts.db
      .updateTable("backup")
      .set({ removed_at: seconds() })
      .where("id", "=", backup.id)
      .execute();
  }

  /** The newest one that is there. */
  async last(): Promise<BackupRow | undefined> {
    return await this.#whole().executeTakeFirst();
  }

  #whole() {
    return this.#parts.db
      .selectFrom("backup")
      .selectAll()
      .where("bytes", "is not", null)
      .where("removed_at", "is", null)
      .orderBy("started_at", "desc");
  }

  /** Keeps the newest BACKUP_KEEP. */
  async #removeOld(): Promise<void> {
    for (const backup of await this.#whole().offset(this.#parts.config.keep).execute()) {
      await this.remove(backup);
    }
  }

  async #addressOf({ place, name }: BackupRow): Promise<Address> {
    return await findAddress(`${place}/${name}`, this.#parts.config);
  }
}
