import { readFileSync } from "node:fs";
import { core, type CoreConfig, displayName } from "#config/core.ts";
import { deployment as deploymentVariables } from "#config/deployment.ts";
import { type ConfigRegistry, createRegistry, processEnvironment } from "#config/registry.ts";
import { findUnsupported } from "#config/unsupported.ts";
import { databaseUrl } from "#config/core-database.ts";
import type { Environment, Values, Variables } from "#config/variable.ts";
import { createConfigStore } from "#storage/config-store.ts";
import { coreMigrations } from "#storage/core-migrations.ts";
import { type Database, openDatabase } from "#storage/database.ts";
import { idempotencyMigrations } from "#storage/idempotency-store.ts";
import { noticeMigrations } from "#storage/large-notices.ts";
import { migrate, type MigrationSet } from "#storage/migrate.ts";
import { toBindContext } from "./bind-context.ts";
import { choosePlugins, declareSettings } from "./choose.ts";
import { loadForeignPlugins } from "./foreign.ts";
import { createGathered, type Gathered } from "./gathered.ts";
import { setUpPlugins } from "./host.ts";
import { createApplication } from "./http/application.ts";
import { openListener } from "./http/listen.ts";
import { onlyListener, openOwnListeners, type OwnListener } from "./http/own-listeners.ts";
import { jobSchema, jobTables } from "./job-tables.ts";
import { createLogger, type Logger } from "./log.ts";
import { housekeeping } from "./housekeeping.ts";
import { createParts, type Parts } from "./parts.ts";
import type { Omission } from "./omission.ts";
import type { AnyPlugin } from "./plugin.ts";
import { ownListeners } from "./services.ts";
import { createOpenRequests } from "./requests.ts";
import { createSecretCodec, openSecretKey } from "./secret-key.ts";
import { type SocketRoute, socketRoutes } from "./sockets/route.ts";
import { createSocketRoutes } from "./sockets/route-server.ts";
import { joinSockets, mountSockets, type SocketServer, socketServer } from "./sockets/server.ts";
import { stopAll, type Stopping } from "./stop.ts";
import { warmUp } from "./warm-up.ts";

export interface BootOptions {
  /** The plugins of this program, in any order. */
  readonly catalogue: readonly AnyPlugin[];
  /** Where variables come from; the process's environment when left out. */
  readonly environment?: Environment;
  /** Wins over PORT. */
  readonly port?: number;
  /** Serves this surface on its own listener and opens no other (`serve --only`). */
  readonly only?: string;
  /** Compiles lazy parts before the server counts as ready, for at most 0.2 s; tests leave it out. */
  readonly warmUp?: boolean;
  /** Told of each step of the start. */
  progress?(step: string): void;
  /** Checks answers against the routes' declared shapes; tests pass one that throws. */
  onMismatch?(route: string, problem: string): void;
}

export interface Running {
  readonly url: string;
  readonly config: CoreConfig;
  readonly log: Logger;
  readonly database: Database;
  readonly registry: ConfigRegistry;
  readonly gathered: Gathered;
  /** Stops gracefully (promise R11); a second call waits for the first. */
  stop(): Promise<void>;
}

/** Everything that a plugin-less process has: settings, log and an open, migrated database. */
export interface Foundation {
  readonly config: CoreConfig;
  readonly registry: ConfigRegistry;
  readonly log: Logger;
  readonly database: Database;
  readonly plugins: readonly AnyPlugin[];
  /** Plugins of PLUGINS_PATH with their folders. */
  readonly foreign: ReadonlyMap<AnyPlugin, string>;
  /** Plugins that were found and left out. */
  readonly omissions: readonly Omission[];
  readonly configs: ReadonlyMap<AnyPlugin, Values<Variables>>;
}

export const version: string = (
  JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as { version: string }
).version;

/** Starts the platform: settings → database → migrations → plugins → jobs → listener. */
export async function boot(options: BootOptions): Promise<Running> {
  const foundation = await openFoundation(options);
  const { config, database } = foundation;
  const gathered = createGathered([...foundation.omissions]);
  try {
    const secretKey = await openSecretKey(database.db, config.secretKey);
    const name = displayName(config);
    const parts = await createParts({ ...foundation, gathered, secretKey, version, name });
    return await start({ ...foundation, gathered, parts }, options);
  } catch (error) {
    await database.close();
    throw error;
  }
}

type Prepared = Foundation & { readonly gathered: Gathered; readonly parts: Parts };

async function start(prepared: Prepared, options: BootOptions): Promise<Running> {
  const stopping = new AbortController();
  options.progress?.("Setting up plugins");
  const host = await setUpPlugins({
    ...prepared,
    services: prepared.parts.services,
    signal: stopping.signal,
  });
  try {
    return await open(prepared, options, { host, stopping });
  } catch (error) {
    stopping.abort();
    await host.stop();
    throw error;
  }
}

/** Opens the doors of plugins that are set up: jobs, then the listener. */
async function open(
  { config, registry, database, log, gathered, parts }: Prepared,
  options: BootOptions,
  { host, stopping }: Pick<Stopping, "host" | "stopping">,
): Promise<Running> {
  const requests = createOpenRequests();
  parts.announceSystemEvent("system.startup.started");
  const context = toBindContext({ ...parts, config, log, database, onMismatch: options.onMismatch });
  const handler = requests.track(createApplication(gathered.routes, context));
  const server = parts.services.get(socketServer.id) as SocketServer | undefined;
  const routes = () => (gathered.slots.get(socketRoutes.id) ?? []) as readonly SocketRoute[];
  const servers = [
    ...(server ? [server.open({ ...context, handlers: gathered.sockets })] : []),
    createSocketRoutes({ ...context, log, routes }),
  ];
  const sockets = mountSockets(joinSockets(servers), log);

  options.progress?.("Starting jobs");
  const houseJobs = housekeeping(database, gathered).map((job) => ({
    plugin: "kernel",
    job,
    isEnabled: () => true,
  }));
  await parts.jobs.start([...houseJobs, ...gathered.jobs]);
  await host.start();
  const own = (gathered.slots.get(ownListeners.id) ?? []) as readonly OwnListener[];
  const track = requests.track;
  const beside = await openOwnListeners(own, { routes: gathered.routes, context, log, track });
  const { only } = options;
  const listening =
    only === undefined
      ? await openListener(handler, { port: options.port ?? config.port, host: config.host, sockets })
      : onlyListener(only, beside);
  if (options.warmUp && only === undefined) {
    await warmUp({ routes: gathered.routes, egress: parts.egress, url: listening.url });
  }
  parts.readiness.ready = true;
  parts.announceSystemEvent("system.startup.completed");

  let stopped: Promise<void> | undefined;
  const stop = () =>
    (stopped ??= stopAll({
      config,
      log,
      database,
      parts,
      host,
      listening,
      beside,
      sockets,
      requests,
      stopping,
    }));
  return { url: listening.url, config, log, database, registry, gathered, stop };
}

/** The part of the foundation that needs no database. */
export type Plan = Omit<Foundation, "database">;

/** Reads the environment, loads the plugins of PLUGINS_PATH and settles which plugins there are, in which order. */
export async function readPlan(options: BootOptions): Promise<Plan> {
  let warn = (message: string): void => process.emitWarning(message, "ConfigWarning");
  const environment = options.environment ?? processEnvironment();
  const registry = createRegistry(environment, { warn: (message) => warn(message) });
  const config = registry.declare("core", core);
  const { pluginsDisabled, pluginsPath } = registry.declare("deployment", deploymentVariables);
  const log = createLogger({ level: config.logLevel, format: config.logFormat });
  warn = (message) => log.warn(message);

  const omissions: Omission[] = [];
  const folders = pluginsPath
    ? await loadForeignPlugins(pluginsPath, log, omissions)
    : new Map<AnyPlugin, string>();
  const foreign = [...folders.keys()];
  const { catalogue } = options;
  const chosen = choosePlugins({ catalogue, foreign, disabled: pluginsDisabled, log, omissions });
  const configs = declareSettings(chosen, { registry, foreign, log, omissions });
  const declared = new Set(registry.declarations().map(({ variable }) => variable.name));
  findUnsupported(environment, (name) => declared.has(name)).forEach((message) => log.warn(message));
  return { config, registry, log, plugins: [...configs.keys()], foreign: folders, omissions, configs };
}

/** Opens what every command needs: settings, log, the database with all migrations, and stored settings. */
export async function openFoundation(options: BootOptions, plan?: Plan): Promise<Foundation> {
  const settled = plan ?? (await readPlan(options));
  const { config, registry, log, plugins } = settled;

  options.progress?.("Opening the database");
  const url = databaseUrl(config);
  const database = await openDatabase({
    ...(url === null ? {} : { url }),
    dataDir: config.dataDir,
    schema: config.databaseSchema,
    pool: {
      size: config.databasePoolSize,
      maxOverflow: config.databasePoolMaxOverflow,
      timeoutSeconds: config.databasePoolTimeout,
      queryTimeoutSeconds: config.databaseQueryTimeout,
      recycleSeconds: config.databasePoolRecycle,
    },
    mayCreate: config.databaseMigrations,
    log: (message) => log.warn(message),
  });
  try {
    options.progress?.("Checking migrations");
    await migrate(database, toMigrationSets(plugins), {
      libraries: [jobTables(database, jobSchema(config))],
      enabled: config.databaseMigrations,
      log: (message) => log.info(message),
    });
    await registry.attach(createConfigStore(database), createSecretCodec(config.secretKey));
  } catch (error) {
    await database.close();
    throw error;
  }
  return { ...settled, database };
}

/** The migrations of the kernel and of `plugins`, in the order in which they run. */
export function toMigrationSets(plugins: readonly AnyPlugin[]): MigrationSet[] {
  const own = [
    { owner: "core", migrations: coreMigrations },
    { owner: "idempotency", migrations: idempotencyMigrations },
    { owner: "notices", migrations: noticeMigrations },
  ];
  return [...own, ...plugins.map(({ id, migrations }) => ({ owner: id, migrations: migrations ?? {} }))];
}
