import { z } from "zod";
import { AppError } from "#kernel/errors.ts";
import { defineRoute } from "#kernel/http/route.ts";
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
  record(action: "backup.ordered" | "backup.verified", id: string): Promise<void>;
}

export const takeJob = "backup.take";
export const verifyJob = "backup.verify";

export function backupRoutes({ backups, jobs, database, schedule, record }: BackupRouteParts) {
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
        returns: z.object({ status: z.literal(true) }),
      },
      async () => {
        await jobs.enqueue(takeJob, {});
        await record("backup.ordered", backups.target);
        return { status: true as const };
      },
    ),
    defineRoute(
      {
        method: "POST",
        access: "admin",
        path: "/backups/:id/verify",
        params: z.object({ id: z.string().min(1).max(200) }),
        summary: "Restore a backup into a scratch place and compare every table, as a job",
        returns: z.object({ status: z.literal(true) }),
        fails: [404, 409],
      },
      async ({ params: { id } }) => {
        if ((await backups.find(id)) === undefined) {
          throw new AppError("not_found", "Backup not found");
        }
        if (!(await backups.askToVerify(id))) {
          throw new AppError("conflict", "This backup is being checked already.");
        }
        await jobs.enqueue(verifyJob, { id });
        await record("backup.verified", id);
        return { status: true as const };
      },
    ),
  ];
}
