import type { Values, Variables } from "#config/variable.ts";
import type { Database } from "#storage/database.ts";
import { requireContributions } from "./check-contributions.ts";
import type { Gathered, GatheredPlugin } from "./gathered.ts";
import type { Surface } from "./http/surfaces.ts";
import type { Logger } from "./log.ts";
import { BootError } from "./order.ts";
import type { AnyPlugin, Contributions, PluginContext } from "./plugin.ts";
import type { OptionalRef, ServiceRef, Slot, SlotRef } from "./service.ts";

export interface HostOptions {
  /** In the order of setup. */
  readonly plugins: readonly AnyPlugin[];
  /** Plugins of PLUGINS_PATH: one that fails is logged and left out. */
  readonly foreign: { has(plugin: AnyPlugin): boolean };
  readonly services: Map<string, unknown>;
  readonly gathered: Gathered;
  readonly database: Database;
  /** The plugins' live settings. */
  readonly configs: ReadonlyMap<AnyPlugin, Values<Variables>>;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

export interface Host {
  /** Runs the plugins' start functions, in the order of setup. */
  start(): Promise<void>;
  /** Lets the plugins end what they are at within `graceMs`, all at the same time; one that fails is logged. */
  drain(graceMs: number): Promise<void>;
  /** Runs the plugins' stop functions in reverse; one that fails is logged. */
  stop(): Promise<void>;
}

interface Health {
  sound: boolean;
  failure?: string;
}

interface SetUp {
  readonly plugin: AnyPlugin;
  readonly contributions: Contributions;
  /** False once a plugin of PLUGINS_PATH could not start: it then counts as switched off. */
  readonly health: Health;
}

/** Sets the plugins up one after another and gathers what they contribute. Throws BootError naming the culprit. */
export async function setUpPlugins(options: HostOptions): Promise<Host> {
  const { slots } = options.gathered;
  const state = { open: false };
  const done: SetUp[] = [];
  for (const plugin of options.plugins) {
    try {
      done.push(await setUp(plugin, { options, slots, state }));
    } catch (error) {
      if (!options.foreign.has(plugin)) {
        await stopAll(done, options.log);
        throw new BootError(`The plugin ${plugin.id} could not be set up: ${messageOf(error)}`, {
          cause: error,
        });
      }
      options.log.error(
        { err: error, plugin: plugin.id },
        "a plugin of PLUGINS_PATH could not be set up; it is left out",
      );
      const reason = `It could not be set up: ${messageOf(error)}`;
      options.gathered.omissions.push({ id: plugin.id, plugin, cause: "broken", reason });
    }
  }
  state.open = true;
  warnOfUnknownPermissions(options);
  return {
    start: () => startAll(done, options),
    async drain(graceMs) {
      await Promise.all(
        done.map((one) => calmly(one, options.log, () => one.contributions.drain?.(graceMs))),
      );
    },
    stop: () => stopAll(done, options.log),
  };
}

async function stopAll(done: readonly SetUp[], log: Logger): Promise<void> {
  for (const one of done.toReversed()) {
    await calmly(one, log, () => one.contributions.stop?.());
  }
}

async function calmly(
  { plugin }: SetUp,
  log: Logger,
  end: () => Promise<void> | void | undefined,
): Promise<void> {
  try {
    await end();
  } catch (error) {
    log.error({ err: error, plugin: plugin.id }, "a plugin did not stop cleanly");
  }
}

async function startAll(done: readonly SetUp[], { foreign, log }: HostOptions): Promise<void> {
  for (const { plugin, contributions, health } of done) {
    try {
      await contributions.start?.();
    } catch (error) {
      if (!foreign.has(plugin)) {
        throw new BootError(`The plugin ${plugin.id} could not be started: ${messageOf(error)}`, {
          cause: error,
        });
      }
      health.sound = false;
      health.failure = `It could not be started: ${messageOf(error)}`;
      log.error(
        { err: error, plugin: plugin.id },
        "a plugin of PLUGINS_PATH could not be started; it is switched off",
      );
    }
  }
}

/** An undeclared permission is held by administrators alone, and nearly always a typing error. */
function warnOfUnknownPermissions({ gathered, log }: HostOptions): void {
  const declared = new Set(
    gathered.plugins.flatMap(({ plugin }) => (plugin.permissions ?? []).map(({ path }) => path as string)),
  );
  const asked = [
    ...gathered.routes.map(({ plugin, route }) => ({
      plugin,
      permission: route.access.split("permission:")[1],
    })),
    ...gathered.tools.map(({ plugin, entry }) => ({
      plugin,
      permission: "permission" in entry ? entry.permission : undefined,
    })),
  ];
  for (const { plugin, permission } of asked) {
    if (permission !== undefined && !declared.has(permission)) {
      declared.add(permission);
      log.warn(
        { plugin, permission },
        "a permission that no plugin declares is asked for; only administrators hold it",
      );
    }
  }
}

interface SetUpState {
  readonly options: HostOptions;
  readonly slots: Map<string, unknown[]>;
  readonly state: { open: boolean };
}

async function setUp(plugin: AnyPlugin, { options, slots, state }: SetUpState): Promise<SetUp> {
  const config = options.configs.get(plugin) ?? {};
  const use: Record<string, unknown> = {};
  for (const [name, ref] of Object.entries(
    (plugin.uses ?? {}) as Record<string, ServiceRef<unknown> | OptionalRef<unknown> | SlotRef<unknown>>,
  )) {
    use[name] = resolve(ref, { name, plugin, services: options.services, slots, state });
  }
  const context: PluginContext<Variables, never, never> = {
    config,
    use: requireDeclaredUse(use) as never,
    // The plugin's declaration says which tables the handle knows; at run time it knows all.
    db: options.database.db as never,
    transaction: (run) => options.database.transaction(run as never),
    log: options.log.child({ plugin: plugin.id }),
    signal: options.signal,
  };
  const contributions: Contributions = await plugin.setup(context);
  // All of it or nothing: a plugin that is left out must leave nothing behind.
  requireContributions(plugin, contributions, options.gathered);
  const health: Health = { sound: true };
  gather(
    {
      plugin,
      contributions,
      isEnabled: () => health.sound && (plugin.enabled?.(config) ?? true),
      failure: () => health.failure,
    },
    { options, slots },
  );
  return { plugin, contributions, health };
}

/** Names the dependency that was forgotten in `uses`, instead of the error that `undefined` would give later. */
function requireDeclaredUse(use: Record<string, unknown>): Record<string, unknown> {
  return new Proxy(use, {
    get(target, name) {
      if (typeof name === "string" && name !== "then" && name !== "toJSON" && !(name in target)) {
        throw new BootError(`it reads use.${name}, which it does not declare: add it to uses`);
      }
      return Reflect.get(target, name);
    },
  });
}

function resolve(
  ref: ServiceRef<unknown> | OptionalRef<unknown> | SlotRef<unknown>,
  {
    name,
    plugin,
    services,
    slots,
    state,
  }: Omit<SetUpState, "options"> & {
    name: string;
    plugin: AnyPlugin;
    services: Map<string, unknown>;
  },
): unknown {
  if (ref.kind === "optional") {
    return services.get(ref.ref.id);
  }
  if (ref.kind === "service") {
    if (!services.has(ref.id)) {
      throw new BootError(`it needs the service ${ref.id} (uses.${name}), which nothing provides`);
    }
    return services.get(ref.id);
  }
  const slot: Slot<unknown> = {
    list() {
      if (!state.open) {
        const hint = `call use.${name}.list() where it is needed, or in start, not in setup`;
        throw new BootError(
          `the plugin ${plugin.id} reads the slot ${ref.id} before all plugins are set up: ${hint}`,
        );
      }
      return slots.get(ref.id) ?? [];
    },
  };
  return slot;
}

function gather(
  { plugin, contributions, isEnabled, failure }: GatheredPlugin,
  { options, slots }: Omit<SetUpState, "state">,
): void {
  const { gathered, services } = options;
  const whenOff = plugin.whenOff ?? 403;
  for (const [surface, routes] of Object.entries(contributions.routes ?? {})) {
    for (const route of routes) {
      gathered.routes.push({ plugin: plugin.id, surface: surface as Surface, route, isEnabled, whenOff });
    }
  }
  gathered.filters.push(...(contributions.filters ?? []).map((entry) => ({ entry, isEnabled })));
  gathered.tools.push(
    ...(contributions.tools ?? []).map((entry) => ({ plugin: plugin.id, entry, isEnabled })),
  );
  gathered.providers.push(...(contributions.providers ?? []).map((provider) => ({ provider, isEnabled })));
  gathered.jobs.push(
    ...(contributions.jobs ?? []).map((job) => ({ plugin: plugin.id as string, job, isEnabled })),
  );
  for (const [event, handler] of Object.entries(contributions.sockets ?? {})) {
    gathered.sockets.push({ plugin: plugin.id, event, handler, isEnabled });
  }
  gathered.plugins.push({ plugin, contributions, isEnabled, failure });
  Object.assign(gathered.resources, contributions.resources);
  for (const { ref, value } of contributions.services ?? []) {
    services.set(ref.id, value);
  }
  for (const { slot, value } of contributions.fills ?? []) {
    slots.set(slot.id, [...(slots.get(slot.id) ?? []), value]);
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
