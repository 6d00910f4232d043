import type { Variables } from "#config/variable.ts";
import type { Gathered } from "./gathered.ts";
import { surfaces } from "./http/surfaces.ts";
import type { Omission } from "./omission.ts";
import type { Page } from "./page.ts";
import type { AnyPlugin } from "./plugin.ts";
import type { OptionalRef, ServiceRef, SlotRef } from "./service.ts";

/** A plugin with all that it contributes, as administrators see it. */
export interface PluginRecord {
  readonly id: string;
  readonly title: string;
  readonly summary: string | null;
  /** `off`: its own switch says so; `disabled`: left out at the start; `broken`: it could not be set up or started. */
  readonly state: "on" | "off" | "disabled" | "broken";
  readonly reason: string | null;
  /** Where a plugin of PLUGINS_PATH stands; null for the program's own. */
  readonly folder: string | null;
  /** Names of the variables that its switch reads. */
  readonly switches: readonly string[];
  readonly variables: readonly string[];
  readonly provides: readonly string[];
  readonly uses: readonly { readonly id: string; readonly kind: "service" | "optional" | "slot" }[];
  readonly fills: readonly string[];
  readonly routes: readonly {
    readonly method: string;
    readonly path: string;
    readonly access: string;
    readonly summary: string;
  }[];
  readonly pages: readonly { readonly path: string; readonly title: string; readonly access: string }[];
  readonly filters: readonly string[];
  readonly tools: readonly string[];
  readonly providers: readonly string[];
  readonly jobs: readonly string[];
  readonly sockets: readonly string[];
  readonly tables: readonly string[];
  readonly permissions: readonly string[];
  readonly commands: readonly string[];
}

type Ref = ServiceRef<unknown> | OptionalRef<unknown> | SlotRef<unknown>;

/** Describes the plugins of this process and those that were left out. */
export function describePlugins(
  gathered: Gathered,
  foreign: ReadonlyMap<AnyPlugin, string>,
): readonly PluginRecord[] {
  const setUp = gathered.plugins.map((entry) => {
    const { plugin, contributions } = entry;
    const failure = entry.failure();
    const state = failure !== undefined ? "broken" : entry.isEnabled() ? "on" : "off";
    return {
      ...describeDeclaration(plugin),
      state: state as PluginRecord["state"],
      reason: failure ?? null,
      folder: foreign.get(plugin) ?? null,
      routes: gathered.routes
        .filter((owned) => owned.plugin === plugin.id)
        .map(({ surface, route }) => ({
          method: route.method,
          path: surfaces[surface].base + route.path,
          access: route.access,
          summary: route.summary,
        })),
      fills: idsOf((contributions.fills ?? []).map(({ slot }) => slot)),
      filters: idsOf(contributions.filters),
      tools: idsOf(contributions.tools),
      providers: idsOf(contributions.providers),
      jobs: idsOf(contributions.jobs),
      sockets: Object.keys(contributions.sockets ?? {}),
    };
  });
  return [...setUp, ...gathered.omissions.map((omission) => describeOmission(omission, foreign))];
}

function describeOmission(
  { id, plugin, cause, reason }: Omission,
  foreign: ReadonlyMap<AnyPlugin, string>,
): PluginRecord {
  return {
    ...describeDeclaration(plugin ?? { id, title: id, setup: () => ({}) }),
    state: cause,
    reason: reason || null,
    folder: (plugin && foreign.get(plugin)) ?? (cause === "broken" ? id : null),
    ...nothing,
  };
}

const nothing = { routes: [], fills: [], filters: [], tools: [], providers: [], jobs: [], sockets: [] };

function describeDeclaration(plugin: AnyPlugin) {
  const config = (plugin.config ?? {}) as Variables;
  return {
    id: plugin.id,
    title: plugin.title,
    summary: plugin.summary ?? null,
    switches: findSwitches(plugin),
    variables: Object.values(config).map(({ name }) => name),
    provides: idsOf(plugin.provides as readonly ServiceRef<unknown>[] | undefined),
    uses: (Object.values(plugin.uses ?? {}) as Ref[]).map((ref) => ({
      id: ref.kind === "optional" ? ref.ref.id : ref.id,
      kind: ref.kind,
    })),
    pages: ((plugin.pages ?? []) as readonly Page[]).map(({ path, title, access }) => ({
      path,
      title,
      access,
    })),
    tables: [...(plugin.tables?.names ?? [])] as string[],
    permissions: (plugin.permissions ?? []).map(({ path }) => String(path)),
    commands: (plugin.commands ?? []).map(({ name }) => name),
  };
}

/** The variables that `enabled` reads: it is asked with settings that note what is read of them. */
function findSwitches({ enabled, config = {} }: AnyPlugin): string[] {
  const read = new Set<string>();
  const settings = new Proxy({} as never, {
    get(_target, property) {
      const variable = (config as Variables)[String(property)];
      if (variable !== undefined) {
        read.add(variable.name);
      }
      return true;
    },
  });
  try {
    enabled?.(settings);
  } catch {
    // A switch that reads more than switches is shown without them.
  }
  return [...read];
}

function idsOf(list: readonly { readonly id: string }[] | undefined): string[] {
  return (list ?? []).map(({ id }) => id);
}
