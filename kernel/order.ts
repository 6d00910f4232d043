import type { AnyPlugin } from "./plugin.ts";
import type { ServiceRef } from "./service.ts";

/** A deployment that cannot start; the text names the plugins and the service, and what to do. */
export class BootError extends Error {
  override readonly name = "BootError";
}

/**
 * Orders plugins so that each comes after those whose services it uses. `kernelServices` are the ids the kernel
 * provides; `leftOut` are the plugins of PLUGINS_DISABLED, for the message. Throws BootError for a missing service, two
 * providers of one service, or a cycle.
 */
export function orderPlugins(
  plugins: readonly AnyPlugin[],
  kernelServices: ReadonlySet<string>,
  leftOut: readonly AnyPlugin[] = [],
): AnyPlugin[] {
  const providers = findProviders(plugins, kernelServices);
  const ordered: AnyPlugin[] = [];
  const done = new Set<AnyPlugin>();
  const visit = (plugin: AnyPlugin, path: readonly AnyPlugin[]) => {
    if (done.has(plugin)) {
      return;
    }
    if (path.includes(plugin)) {
      const cycle = [...path.slice(path.indexOf(plugin)), plugin].map(({ id }) => id).join(" → ");
      throw new BootError(`Plugins depend on each other in a circle: ${cycle}.`);
    }
    for (const needed of dependenciesOf(plugin)) {
      const provider = providers.get(needed.id);
      if (provider) {
        visit(provider, [...path, plugin]);
      } else if (!needed.optional && !kernelServices.has(needed.id)) {
        throw new BootError(
          `The plugin ${plugin.id} needs the service ${needed.id}, which ${describeGap(needed.id, leftOut)}.`,
        );
      }
    }
    done.add(plugin);
    ordered.push(plugin);
  };
  for (const plugin of plugins) {
    visit(plugin, []);
  }
  return ordered;
}

/** Why a service is missing, in words that follow its id. */
export function describeGap(service: string, leftOut: readonly AnyPlugin[]): string {
  const provider = leftOut.find((plugin) => providedBy(plugin).includes(service));
  return provider
    ? `${provider.id} provides: take ${provider.id} out of PLUGINS_DISABLED`
    : "no plugin provides; a plugin that does so names it in provides";
}

/** Ids of the services that the plugin provides. */
export function providedBy(plugin: AnyPlugin): string[] {
  return ((plugin.provides ?? []) as ServiceRef<unknown>[]).map(({ id }) => id);
}

function findProviders(
  plugins: readonly AnyPlugin[],
  kernelServices: ReadonlySet<string>,
): Map<string, AnyPlugin> {
  const ids = new Set<string>();
  const providers = new Map<string, AnyPlugin>();
  for (const plugin of plugins) {
    if (ids.has(plugin.id)) {
      throw new BootError(`Two plugins have the id ${plugin.id}. Rename one of them.`);
    }
    ids.add(plugin.id);
    for (const ref of (plugin.provides ?? []) as ServiceRef<unknown>[]) {
      const other = providers.get(ref.id);
      if (other || kernelServices.has(ref.id)) {
        const first = other?.id ?? "kernel";
        throw new BootError(
          `The service ${ref.id} is provided by both ${first} and ${plugin.id}. Name one of them in PLUGINS_DISABLED.`,
        );
      }
      providers.set(ref.id, plugin);
    }
  }
  return providers;
}

/** Ids of the services that the plugin uses. */
export function dependenciesOf(plugin: AnyPlugin): { id: string; optional: boolean }[] {
  const uses = Object.values(
    (plugin.uses ?? {}) as Record<string, { kind: string; id: string; ref?: ServiceRef<unknown> }>,
  );
  return uses
    .filter((ref) => ref.kind !== "slot")
    .map((ref) =>
      ref.kind === "optional" ? { id: ref.ref?.id ?? "", optional: true } : { id: ref.id, optional: false },
    );
}
