import { core, type CoreConfig, displayName } from "#config/core.ts";
import { deployment as deploymentVariables } from "#config/deployment.ts";
import { type ConfigRegistry, createRegistry, processEnvironment } from "#config/registry.ts";
import { findUnsupported } from "#config/unsupported.ts";
import { databaseUrl } from "#config/core-database.ts";
import type { Environment, Values, Variables } from "#config/variable.ts";
import { createConfigStore } from "#storage/config-store.ts";
import { type Database, openDatabase } from "#storage/database.ts";
import { migrate } from "#storage/migrate.ts";
import { toBindContext } from "./bind-context.ts";
import { choosePlugins, declareSettings } from "./choose.ts";
import { loadForeignPlugins } from "./foreign.ts";
import { createGathered, type Gathered } from "./gathered.ts";
import { setUpPlugins } from "./host.ts";
import { createApplication } from "./http/application.ts";
import { createStartupHandler, type StartupHandler } from "./http/startup-handler.ts";
import { ListenError, type Listening, openListener } from "./http/listen.ts";
import { onlyListener, openOwnListeners, type OwnListener } from "./http/own-listeners.ts";
import { jobSchema, jobTables } from "./job-tables.ts";
import { createLogger, type Logger } from "./log.ts";
import { housekeeping } from "./housekeeping.ts";
import type { Elsewhere } from "./installation.ts";
import { describeInstallation, openInstallation } from "./open-installation.ts";
import { createParts, type Parts } from "./parts.ts";
import type { Omission } from "./omission.ts";
import { BootError } from "./order.ts";
import type { AnyPlugin } from "./plugin.ts";
import { toMigrationSets, version } from "./release.ts";
import type { ServiceRef } from "./service.ts";
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
  /** Where the log goes; standard output when left out. */
  readonly logStream?: { write(line: string): unknown };
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
  /** A service of the kernel or of a plugin. Throws when no plugin provides it. */
  service<T>(ref: ServiceRef<T>): T;
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

/** Starts the platform: settings → listener, which answers 503 → database → migrations → plugins → jobs → open. */
export async function boot(options: BootOptions): Promise<Running> {
  const plan = await readPlan(options);
  const startup = createStartupHandler();
  const listening = await bindAddress(startup, plan.config, options);
  try {
    const foundation = await openFoundation(options, plan);
    try {
      return await bootOn({ ...foundation, startup, listening }, options);
    } catch (error) {
      await foundation.database.close();
      throw error;
    }
  } catch (error) {
    listening?.breakConnections();
    await listening?.close();
    throw error;
  }
}

/** Undefined for a process that serves one surface alone, which has a listener of its own. */
async function bindAddress(
  startup: StartupHandler,
  config: CoreConfig,
  options: BootOptions,
): Promise<Listening | undefined> {
  if (options.only !== undefined) {
    return undefined;
  }
  const { handler, sockets } = startup;
  const address = { port: options.port ?? config.port, host: config.host };
  try {
    return await openListener(handler, { ...address, sockets });
  } catch (error) {
    if (error instanceof ListenError) {
      const advice = "Set PORT and HOST to a free address of this machine.";
      throw new BootError(`${error.message} ${advice}`, { cause: error });
    }
    throw error;
  }
}

type Bound = Foundation & { readonly startup: StartupHandler; readonly listening: Listening | undefined };
type Prepared = Bound & { readonly gathered: Gathered; readonly parts: Parts };

async function bootOn(bound: Bound, options: BootOptions): Promise<Running> {
  const { config, database } = bound;
  const gathered = createGathered([...bound.omissions]);
  const secretKey = await openSecretKey(database.db, config.secretKey);
  const name = displayName(config);
  const open = (elsewhere: Elsewhere) => openInstallation(bound, elsewhere);
  const installation = { ...describeInstallation(bound), open };
  const parts = await createParts({ ...bound, gathered, secretKey, version, name, installation });
  return await start({ ...bound, gathered, parts }, options);
}

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
  { config, registry, database, log, gathered, parts, startup, listening: bound }: Prepared,
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
  const listening = bound ?? onlyListener(only ?? "", beside);
  startup.open(handler, sockets);
  if (options.warmUp && only === undefined) {
    await warmUp({ routes: gathered.routes, egress: parts.egress, url: listening.url });
  }
  await parts.disk.watch();
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
  const service = <T>(ref: ServiceRef<T>): T => {
    if (!parts.services.has(ref.id)) {
      throw new Error(`No plugin provides the service ${ref.id}.`);
    }
    return parts.services.get(ref.id) as T;
  };
  return { url: listening.url, config, log, database, registry, gathered, service, stop };
}

/** The part of the foundation that needs no database. */
export type Plan = Omit<Foundation, "database">;

/** Reads the environment, loads the plugins of PLUGINS_PATH and settles which plugins there are, in which order. */
export async function readPlan(options: BootOptions): Promise<Plan> {
  const early: string[] = [];
  let warn = (message: string): void => void early.push(message);
  const environment = options.environment ?? processEnvironment();
  const registry = createRegistry(environment, { warn: (message) => warn(message) });
  const config = registry.declare("core", core);
  const { pluginsDisabled, pluginsPath } = registry.declare("deployment", deploymentVariables);
  const log = createLogger({
    level: config.logLevel,
    format: config.logFormat,
    ...(options.logStream && { stream: options.logStream }),
  });
  warn = (message) => log.warn(message);
  early.forEach(warn);

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
