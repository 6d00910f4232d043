import { z } from "zod";
import { AppError } from "#kernel/errors.ts";
import { defineRoute, type Reply } from "#kernel/http/route.ts";
import type { HostRecords } from "#kernel/services.ts";
import type { BuildFacts } from "./about/build.ts";
import type { LicenseReport } from "./about/license.ts";
import type { HealthReport } from "./health/health.ts";
import type { PluginList } from "./plugins/plugin-list.ts";
import { AboutAnswer, ErrorsAnswer, HealthAnswer, JobsAnswer, PluginsAnswer } from "./schema.ts";

export interface OperationRoutesParts {
  readonly records: Pick<HostRecords, "jobs" | "runJob" | "errors">;
  readonly instance: string;
  plugins(): PluginList;
  health(): Promise<HealthReport>;
  about(): { build: BuildFacts; license: LicenseReport };
  /** Answers with a copy of the embedded database. */
  backup(): Promise<Reply>;
  /** Notes in the record of administrators' actions that a job was run. */
  ran(jobId: string): Promise<void>;
}

const common = { method: "GET", access: "admin" } as const;

/** Routes about the host itself, for administrators: its plugins, jobs, parts and failures. */
export function operationRoutes(parts: OperationRoutesParts) {
  const { records, instance, plugins, backup, ran } = parts;
  return [
    defineRoute(
      {
        ...common,
        path: "/operations/plugins",
        summary: "List every plugin with what it brings, and who provides which service",
        returns: PluginsAnswer,
      },
      plugins,
    ),
    defineRoute(
      {
        ...common,
        path: "/operations/jobs",
        summary: "List the jobs with their last and next runs",
        returns: JobsAnswer,
      },
      async () => ({ data: await records.jobs() }),
    ),
    defineRoute(
      {
        method: "POST",
        access: "admin",
        path: "/operations/jobs/run",
        summary: "Run a scheduled job now",
        body: z.object({ id: z.string().min(1).max(200) }),
        returns: z.object({ status: z.literal(true) }),
        fails: [400, 404],
      },
      async ({ body: { id } }) => {
        const outcome = await records.runJob(id);
        if (outcome === "unknown") {
          throw new AppError("not_found", "Job not found");
        }
        if (outcome !== "queued") {
          throw new AppError("invalid", refusals[outcome]);
        }
        await ran(id);
        return { status: true as const };
      },
    ),
    ...factRoutes(parts),
    defineRoute(
      {
        ...common,
        path: "/operations/errors",
        summary: "List the last failures of the process that answers, newest first",
        query: z.object({ request_id: z.string().max(64).optional() }),
        returns: ErrorsAnswer,
      },
      ({ query: { request_id: id } }) => ({
        instance_id: instance,
        data: records.errors().filter((error) => id === undefined || error.request_id === id),
      }),
    ),
    defineRoute(
      {
        ...common,
        path: "/utils/db/download",
        summary: "Download a copy of the embedded database, as a gzipped tape archive (ENABLE_ADMIN_EXPORT)",
        produces: "application/gzip",
        fails: [400, 403, 409],
      },
      backup,
    ),
  ] as const;
}

function factRoutes({ health, about }: Pick<OperationRoutesParts, "health" | "about">) {
  return [
    defineRoute(
      {
        ...common,
        path: "/operations/health",
        summary: "Use the database, stored bytes and the bus once, and call the roll of replicas",
        returns: HealthAnswer,
      },
      health,
    ),
    defineRoute(
      {
        ...common,
        path: "/operations/about",
        summary: "Read how this server was built, the device it found, and what its license inputs say",
        returns: AboutAnswer,
      },
      about,
    ),
  ] as const;
}

const refusals = {
  unscheduled: "This job runs for what is queued; it has nothing to do by itself.",
  off: "The plugin of this job is switched off.",
};
