import type { SystemEventName } from "./system-event-names.ts";
import type { CoreConfig } from "#config/core.ts";
import type { ConfigRegistry } from "#config/registry.ts";
import { type Blobs, openBlobs } from "#storage/blobs.ts";
import type { Database } from "#storage/database.ts";
import { createGrants } from "#storage/grants.ts";
import { openLargeNotices } from "#storage/large-notices.ts";
import { openVectors } from "#storage/vectors.ts";
import { access, createAccess } from "./access/resource.ts";
import { createEgress, type Egress } from "./egress/egress.ts";
import { createEvents } from "./events.ts";
import type { Gathered } from "./gathered.ts";
import { toReason } from "./job-records.ts";
import { createJobRunner, type JobRunner } from "./job-runner.ts";
import { createDisk, type Disk } from "./disk.ts";
import type { OwnInstallation } from "./installation.ts";
import { jobSchema } from "./job-tables.ts";
import type { Logger } from "./log.ts";
import type { Page } from "./page.ts";
import type { AnyPlugin } from "./plugin.ts";
import { describePlugins } from "./plugin-records.ts";
import { createRecentErrors, type RecentErrors } from "./recent-errors.ts";
import { readDatabaseId } from "./secret-key.ts";
import type { ServiceRef } from "./service.ts";
import { troubleBegan } from "./trouble.ts";
import * as kernel from "./services.ts";
import { type ToolApprover, toolApprovers } from "./tools/approval.ts";
import { createToolRegistry } from "./tools/registry.ts";

export interface PartsOptions {
  readonly config: CoreConfig;
  readonly registry: ConfigRegistry;
  readonly log: Logger;
  readonly database: Database;
  readonly gathered: Gathered;
  readonly plugins: readonly AnyPlugin[];
  /** Plugins of PLUGINS_PATH with their folders. */
  readonly foreign: ReadonlyMap<AnyPlugin, string>;
  readonly secretKey: string;
  readonly version: string;
  readonly name: string;
  readonly installation: Omit<OwnInstallation, "database" | "blobs">;
}

/** The running parts of the kernel, and its services for plugins. */
export interface Parts {
  readonly services: Map<string, unknown>;
  readonly egress: Egress;
  readonly blobs: Blobs;
  readonly jobs: JobRunner;
  readonly errors: RecentErrors;
  readonly disk: Disk;
  /** False until everything started, and again once a stop was asked for. */
  readonly readiness: { ready: boolean };
  /** Announces what this process does: system.startup.* and system.shutdown.* (appendix A10). */
  announceSystemEvent(event: Extract<SystemEventName, `system.${string}`>): void;
}

/** Ids of the services the kernel provides; plugins cannot provide them again. */
export const kernelServiceIds: ReadonlySet<string> = new Set(
  [...Object.values(kernel), access].map(({ id }) => id),
);

/** Builds the kernel's own parts over an open database. */
export async function createParts(options: PartsOptions): Promise<Parts> {
  const { config, registry, log, database, gathered } = options;
  const readiness = { ready: false };
  const egress = createEgress({
    allowedPrivateOrigins: () => config.egressAllowedPrivateOrigins,
    ssl: () => config.sessionSsl,
    caFile: () => config.sslCertFile,
    fingerprint: () => config.sslAssertFingerprint,
    allowRedirects: () => config.allowRedirects,
    timeoutSeconds: () => config.clientTimeout,
  });
  const blobs = await openBlobs(config);
  const grants = createGrants(database);
  const events = createEvents(log);
  const jobs = createJobRunner({
    database,
    log,
    schema: jobSchema(config),
    migrate: config.databaseMigrations,
    failed: ({ id, title }, error) =>
      events.emit(troubleBegan, { kind: "job", id, name: title ?? id, reason: toReason(error) }),
  });
  const errors = createRecentErrors();
  const disk = createDisk({ folder: config.dataDir, log, events });
  const services = new Map<string, unknown>();
  const offer = <T>(ref: ServiceRef<T>, value: T) => void services.set(ref.id, value);

  offer(access, createAccess({ grants, adminsPass: () => config.bypassAdminAccessControl }));
  offer(kernel.egress, egress);
  offer(kernel.blobs, blobs);
  offer(kernel.grants, grants);
  offer(kernel.events, events);
  offer(kernel.jobs, jobs);
  const approvers = () => (gathered.slots.get(toolApprovers.id) ?? []) as ToolApprover[];
  offer(kernel.toolRegistry, createToolRegistry(gathered.tools, approvers));
  offer(kernel.configuration, registry);
  offer(kernel.notices, toNotices(database));
  const warn = (message: string) => log.warn(message);
  offer(kernel.largeNotices, (channel) => openLargeNotices(database, { channel, log: warn }));
  offer(kernel.vectorStores, (table) => openVectors(database, table));
  offer(kernel.deployment, toDeployment(options, { readiness, disk }));
  offer(kernel.installation, { ...options.installation, database, blobs });
  offer(kernel.declarations, toDeclarations(options));
  offer(kernel.hostRecords, {
    plugins: () => describePlugins(gathered, options.foreign),
    jobs: () => jobs.records(),
    runJob: (id) => jobs.runNow(id),
    errors: () => errors.list(),
  });
  await followSettings(database, registry);
  const announceSystemEvent = (event: Extract<SystemEventName, `system.${string}`>): void => {
    const subject = { type: "instance", id: config.instanceId };
    events.announce(event, { actor: null, subject, data: { version: options.version } });
  };
  return {
    services,
    egress,
    blobs,
    jobs,
    errors,
    disk,
    readiness,
    announceSystemEvent,
  };
}

function toNotices(database: Database): kernel.Notices {
  return {
    notify: (channel, payload) => database.notify(channel, payload),
    isHearing: () => database.isHearing(),
    async listen(channel, handler, onGap) {
      database.onListenGap(onGap);
      await database.listen(channel, handler);
    },
  };
}

/** Settings that another replica changed are read again, all of them when announcements may have been missed. */
async function followSettings(database: Database, registry: ConfigRegistry): Promise<void> {
  const refresh = (keys?: readonly string[]) => void registry.refresh(keys).catch(() => undefined);
  database.onListenGap(() => refresh());
  await database.listen("config", (payload) => refresh((payload as { keys?: string[] }).keys));
}

function toDeployment(
  { config, database, gathered, secretKey, version, name }: PartsOptions,
  { readiness, disk }: { readonly readiness: { readonly ready: boolean }; readonly disk: Disk },
): kernel.Deployment {
  const checks = () => (gathered.slots.get(kernel.healthChecks.id) ?? []) as kernel.HealthCheck[];
  const pingDatabase = async () => {
    if (database.kind === "embedded") {
      await disk.requireRoom();
    }
    await named("The database", database.ping());
  };
  return {
    version,
    name,
    secretKey,
    instanceId: config.instanceId,
    deploymentId: config.deploymentId,
    isDev: config.env === "dev",
    database: database.kind,
    databaseId: () => readDatabaseId(database.db),
    copyDatabase: () => database.copy(),
    ping: async () =>
      void (await Promise.all([
        pingDatabase(),
        disk.requireRoom(),
        ...checks().map(({ part, check }) => named(part, check())),
      ])),
    pingDatabase,
    isReady: () => readiness.ready,
    disk: () => disk.room(),
  };
}

async function named(part: string, answer: Promise<void>): Promise<void> {
  await answer.catch((error: unknown) => {
    throw new Error(`${part} does not answer.`, { cause: error });
  });
}

function toDeclarations({ gathered, plugins, foreign }: PartsOptions): kernel.Declarations {
  const isEnabled = (plugin: AnyPlugin) =>
    gathered.plugins.some((entry) => entry.plugin === plugin && entry.isEnabled());
  return {
    pages: () =>
      plugins.flatMap((plugin) =>
        ((plugin.pages ?? []) as readonly Page[]).map((page) => ({
          plugin: plugin.id as string,
          page,
          folder: foreign.get(plugin),
          isEnabled: () => isEnabled(plugin),
        })),
      ),
    permissions: () => gathered.plugins.flatMap(({ plugin }) => plugin.permissions ?? []),
    providers: () =>
      gathered.providers.filter(({ isEnabled }) => isEnabled()).map(({ provider }) => provider),
    routes: () => gathered.routes,
    filters: () => gathered.filters,
    resources: () => gathered.plugins.flatMap(({ plugin }) => plugin.resources ?? []),
    plugins: () =>
      gathered.plugins.map(({ plugin, isEnabled }) => ({
        id: plugin.id,
        title: plugin.title,
        enabled: isEnabled(),
      })),
  };
}
