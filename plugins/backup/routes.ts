import { z } from "zod";
import { AppError } from "#kernel/errors.ts";
import { defineRoute, reply } from "#kernel/http/route.ts";
import type { Jobs } from "#kernel/jobs.ts";
import type { OwnBackups } from "./own-backups.ts";

const moment = z.int().describe("Epoch seconds");
const Backup = z
  .object({
    id: z.string(),
    started_at: moment,
    finished_at: moment.nullable(),
    place: z.string().describe("Folder or bucket"),
    name: z.string(),
    bytes: z.int().nullable(),
    error: z.string().nullable(),
    verified_at: moment.nullable().describe("When it was last restored into a scratch place and compared"),
    verify_started_at: moment.nullable().describe("When the check that is under way was asked for"),
    verify_error: z.string().nullable(),
    removed_at: moment.nullable(),
  })
  .meta({ id: "Backup" });

export interface BackupRouteParts {
  readonly backups: OwnBackups;
  readonly jobs: Jobs;
  readonly database: "embedded" | "server";
  schedule(): string;
  /** ENABLE_ADMIN_EXPORT. */
  mayExport(): boolean;
  record(
    action: "backup.ordered" | "backup.verified" | "backup.downloaded" | "backup.deleted",
    backup: { readonly id: string; readonly name?: string },
  ): Promise<void>;
}

const params = z.object({ id: z.string().min(1).max(200) });
const Done = z.object({ status: z.literal(true) });

export const takeJob = "backup.take";
export const verifyJob = "backup.verify";

export function backupRoutes(parts: BackupRouteParts) {
  const { backups, jobs, database, schedule, record } = parts;
  return [
    defineRoute(
      {
        method: "GET",
        access: "admin",
        path: "/backups",
        summary: "List the server's own backups, newest first",
        returns: z.object({
          schedule: z.string(),
          target: z.string().describe("Where the next one goes"),
          database: z.enum(["embedded", "server"]),
          items: z.array(Backup),
        }),
      },
      async () => ({ schedule: schedule(), target: backups.target, database, items: await backups.list() }),
    ),
    defineRoute(
      {
        method: "POST",
        access: "admin",
        path: "/backups",
        summary: "Back up this server now, as a job",
        returns: Done,
      },
      async () => {
        await jobs.enqueue(takeJob, {});
        await record("backup.ordered", { id: backups.target });
        return { status: true as const };
      },
    ),
    defineRoute(
      {
        method: "POST",
        access: "admin",
        path: "/backups/:id/verify",
        params,
        summary: "Restore a backup into a scratch place and compare every table, as a job",
        returns: Done,
        fails: [404, 409],
      },
      async ({ params: { id } }) => {
        const { name } = await backups.require(id);
        if (!(await backups.askToVerify(id))) {
          throw new AppError("conflict", "This backup is being checked already.");
        }
        await jobs.enqueue(verifyJob, { id });
        await record("backup.verified", { id, name });
        return { status: true as const };
      },
    ),
    ...archiveRoutes(parts),
  ];
}

function archiveRoutes({ backups, mayExport, record }: BackupRouteParts) {
  return [
    defineRoute(
      {
        method: "GET",
        access: "admin",
        path: "/backups/:id/download",
        params,
        summary: "Download a backup as the gzipped tape archive it is (ENABLE_ADMIN_EXPORT)",
        produces: "application/gzip",
        fails: [403, 404],
      },
      async ({ params: { id } }) => {
        if (!mayExport()) {
          throw new AppError("forbidden", "Exports are switched off.");
        }
        const backup = await backups.require(id);
        const bytes = await backups.open(backup);
        await record("backup.downloaded", backup);
        return reply(bytes, {
          headers: {
            "content-type": "application/gzip",
            "content-length": String(backup.bytes),
            "content-disposition": `attachment; filename="${backup.name}"`,
          },
        });
      },
    ),
    defineRoute(
      {
        method: "DELETE",
        access: "admin",
        path: "/backups/:id",
        params,
        summary: "Delete a backup from where it lies; its line stays in the list",
        returns: Done,
        fails: [404, 409],
      },
      async ({ params: { id } }) => {
        const backup = await backups.require(id);
        if (backup.verify_started_at !== null) {
          throw new AppError("conflict", "This backup is being checked. Delete it after that.");
        }
        await backups.remove(backup);
        await record("backup.deleted", backup);
        return { status: true as const };
      },
    ),
  ];
}
