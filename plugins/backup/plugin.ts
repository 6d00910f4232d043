import { definePlugin, tables } from "#kernel/plugin.ts";
import { optional, provide } from "#kernel/service.ts";
import { configuration, installation, jobs } from "#kernel/services.ts";
import { type Door, openDoor } from "#storage/backup/door.ts";
import { audit } from "#plugins/audit/service.ts";
import { backupCommand, moveCommand, restoreCommand } from "./commands.ts";
import { backupConfig } from "./config.ts";
import { createBackups } from "./migrations/0001_backup.ts";
import { noteRunningChecks } from "./migrations/0002_verify_started.ts";
import { OwnBackups } from "./own-backups.ts";
import { backupFacts } from "./service.ts";
import { findAddress } from "./place.ts";
import { backupRoutes, takeJob, verifyJob } from "./routes.ts";
import type { BackupTables } from "./tables.ts";
import { takeBackup } from "./take.ts";

const checkEverySeconds = 600;
const longestSeconds = 6 * 3600;

export default definePlugin({
  id: "backup",
  title: "Backup",
  summary: "Backs up database, files and workspaces, restores them, and moves the database.",
  config: backupConfig,
  uses: { audit: optional(audit), configuration, installation, jobs },
  tables: tables<BackupTables>("backup"),
  migrations: { "0001_backup": createBackups, "0002_verify_started": noteRunningChecks },
  installationCommands: [backupCommand, restoreCommand, moveCommand],
  pages: [
    {
      id: "backup",
      path: "/admin/backups",
      title: "Backups",
      icon: "archive",
      place: "admin",
      group: "server",
      order: 72,
      access: "admin",
    },
  ],

  provides: [backupFacts],

  setup({ config, use, db, log }) {
    const backups = new OwnBackups({ db, config, installation: use.installation, log });
    let door: Door | undefined;
    return {
      routes: {
        api: backupRoutes({
          backups,
          jobs: use.jobs,
          database: use.installation.database.kind,
          schedule: () => config.schedule,
          // The setting belongs to a plugin that may be left out; exports are allowed then.
          mayExport: () => use.configuration.valueOr("ENABLE_ADMIN_EXPORT", true) === true,
          record: async (action, { id, name }) =>
            await use.audit?.record({ action, object: { type: "backup", id, name } }),
        }),
      },
      services: [
        provide(backupFacts, {
          async last() {
            const row = await backups.last();
            if (row === undefined) {
              return undefined;
            }
            const { name, started_at, bytes, verified_at } = row;
            return { name, started_at, bytes, verified_at };
          },
        }),
      ],
      jobs: [
        {
          id: "backup.schedule",
          title: "Makes scheduled backups",
          every: checkEverySeconds,
          expiresIn: longestSeconds,
          run: () => backups.runSchedule(),
        },
        { id: takeJob, expiresIn: longestSeconds, run: () => backups.take() },
        {
          id: verifyJob,
          expiresIn: longestSeconds,
          run: (order) => backups.verify((order as { id: string }).id),
        },
      ],
      async start() {
        await backups.closeAbandoned({ longestSeconds });
        if (use.installation.database.kind === "embedded") {
          door = await openDoor(
            config.dataDir,
            async ({ target, secrets }, progress) =>
              takeBackup(use.installation, await findAddress(target, config), {
                isServing: true,
                progress,
                ...(secrets && { secrets }),
              }),
            (message) => log.warn(message),
          );
        }
      },
      stop: () => door?.close(),
    };
  },
});
