import type { Values, Variables } from "#config/variable.ts";
import type { Database } from "#storage/database.ts";
import type { ModelProvider } from "./completion/provider.ts";
import type { OwnedRoute } from "./http/bind.ts";
import type { Surface } from "./http/surfaces.ts";
import type { Job } from "./jobs.ts";
import type { Logger } from "./log.ts";
import { BootError } from "./order.ts";
import type { OwnedFilter } from "./pipeline/pipeline.ts";
import type { AnyPlugin, Contributions, PluginContext } from "./plugin.ts";
import type { OptionalRef, ServiceRef, Slot, SlotRef } from "./service.ts";
import type { OwnedTool } from "./tools/registry.ts";

/** Everything the plugins contributed; the arrays fill while plugins are set up and are complete afterwards. */
export interface Gathered {
  readonly routes: OwnedRoute[];
  readonly filters: OwnedFilter[];
  readonly tools: OwnedTool[];
  readonly providers: { readonly provider: ModelProvider; isEnabled(): boolean }[];
  readonly jobs: { readonly job: Job; isEnabled(): boolean }[];
  readonly plugins: { readonly plugin: AnyPlugin; isEnabled(): boolean }[];
}

/** Empty registries, to be filled by the host. */
export function createGathered(): Gathered {
  return { routes: [], filters: [], tools: [], providers: [], jobs: [], plugins: [] };
}

export interface HostOptions {
  /** In the order of setup. */
  readonly plugins: readonly AnyPlugin[];
  /** Plugins of PLUGINS_PATH: one that fails is logged and left out. */
  readonly foreign: ReadonlySet<AnyPlugin>;
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
  /** Runs the plugins' stop functions in reverse; one that fails is logged. */
  stop(): Promise<void>;
}

interface SetUp {
  readonly plugin: AnyPlugin;
  readonly contributions: Contributions;
}

/** Sets the plugins up one after another and gathers what they contribute. Throws BootError naming the culprit. */
export async function setUpPlugins(options: HostOptions): Promise<Host> {
  const slots = new Map<string, unknown[]>();
  const state = { open: false };
  const done: SetUp[] = [];
  for (const plugin of options.plugins) {
    try {
      const contributions = await setUp(plugin, { options, slots, state });
      done.push({ plugin, contributions });
    } catch (error) {
      if (!options.foreign.has(plugin)) {
        throw new BootError(`The plugin ${plugin.id} could not be set up: ${messageOf(error)}`, { cause: error });
      }
      options.log.error({ err: error, plugin: plugin.id }, "a plugin of PLUGINS_PATH could not be set up; it is left out");
    }
  }
  state.open = true;
  return {
    async start() {
      for (const { contributions } of done) {
        await contributions.start?.();
      }
    },
    async stop() {
      for (const { plugin, contributions } of done.toReversed()) {
        try {
          await contributions.stop?.();
        } catch (error) {
          options.log.error({ err: error, plugin: plugin.id }, "a plugin did not stop cleanly");
        }
      }
    },
  };
}

interface SetUpState {
  readonly options: HostOptions;
  readonly slots: Map<string, unknown[]>;
  readonly state: { open: boolean };
}

async function setUp(plugin: AnyPlugin, { options, slots, state }: SetUpState): Promise<Contributions> {
  const config = options.configs.get(plugin) ?? {};
  const use: Record<string, unknown> = {};
  for (const [name, ref] of Object.entries((plugin.uses ?? {}) as Record<string, ServiceRef<unknown> | OptionalRef<unknown> | SlotRef<unknown>>)) {
    use[name] = resolve(ref, { plugin, services: options.services, slots, state });
  }
  const context: PluginContext<Variables, never, never> = {
    config,
    use: use as never,
    // The plugin's declaration says which tables the handle knows; at run time it knows all.
    db: options.database.db as never,
    transaction: (run) => options.database.transaction(run as never),
    log: options.log.child({ plugin: plugin.id }),
    signal: options.signal,
  };
  const contributions: Contributions = await plugin.setup(context);
  gather({ plugin, contributions, isEnabled: () => plugin.enabled?.(config) ?? true }, { options, slots });
  return contributions;
}

function resolve(
  ref: ServiceRef<unknown> | OptionalRef<unknown> | SlotRef<unknown>,
  { plugin, services, slots, state }: Omit<SetUpState, "options"> & { plugin: AnyPlugin; services: Map<string, unknown> },
): unknown {
  if (ref.kind === "optional") {
    return services.get(ref.ref.id);
  }
  if (ref.kind === "service") {
    if (!services.has(ref.id)) {
      throw new BootError(`it needs the service ${ref.id}, which nothing provides`);
    }
    return services.get(ref.id);
  }
  const slot: Slot<unknown> = {
    list() {
      if (!state.open) {
        throw new BootError(`The plugin ${plugin.id} read the slot ${ref.id} before all plugins were set up.`);
      }
      return slots.get(ref.id) ?? [];
    },
  };
  return slot;
}

interface Gathering {
  readonly plugin: AnyPlugin;
  readonly contributions: Contributions;
  isEnabled(): boolean;
}

function gather({ plugin, contributions, isEnabled }: Gathering, { options, slots }: Omit<SetUpState, "state">): void {
  const { gathered, services } = options;
  const whenOff = plugin.whenOff ?? 403;
  for (const [surface, routes] of Object.entries(contributions.routes ?? {})) {
    for (const route of routes) {
      gathered.routes.push({ plugin: plugin.id, surface: surface as Surface, route, isEnabled, whenOff });
    }
  }
  gathered.filters.push(...(contributions.filters ?? []).map((entry) => ({ entry, isEnabled })));
  gathered.tools.push(...(contributions.tools ?? []).map((entry) => ({ entry, isEnabled })));
  gathered.providers.push(...(contributions.providers ?? []).map((provider) => ({ provider, isEnabled })));
  gathered.jobs.push(...(contributions.jobs ?? []).map((job) => ({ job, isEnabled })));
  gathered.plugins.push({ plugin, isEnabled });
  for (const { ref, value } of contributions.services ?? []) {
    services.set(ref.id, value);
  }
  for (const ref of (plugin.provides ?? []) as ServiceRef<unknown>[]) {
    if (!services.has(ref.id)) {
      throw new BootError(`it declares the service ${ref.id} but does not hand it over`);
    }
  }
  for (const { slot, value } of contributions.fills ?? []) {
    slots.set(slot.id, [...(slots.get(slot.id) ?? []), value]);
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
