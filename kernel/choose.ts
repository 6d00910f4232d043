import { ConfigError, type ConfigRegistry } from "#config/registry.ts";
import type { Values, Variables } from "#config/variable.ts";
import type { Permission } from "./access/permissions.ts";
import { requireDeclaration } from "./check-declaration.ts";
import type { Logger } from "./log.ts";
import type { Omission } from "./omission.ts";
import { BootError, dependenciesOf, describeGap, orderPlugins, providedBy } from "./order.ts";
import { type Page, toPathShape } from "./page.ts";
import { kernelServiceIds } from "./parts.ts";
import type { AnyPlugin } from "./plugin.ts";

export interface Choice {
  readonly catalogue: readonly AnyPlugin[];
  readonly foreign: readonly AnyPlugin[];
  /** Ids of PLUGINS_DISABLED. */
  readonly disabled: readonly string[];
  readonly log: Logger;
  /** Takes in what is left out. */
  readonly omissions?: Omission[];
}

/** The plugins of this process in the order of setup. Own ones have to fit together; foreign ones that do not are left out. */
export function choosePlugins({ catalogue, foreign, disabled, log, omissions = [] }: Choice): AnyPlugin[] {
  catalogue.forEach(requireOwnDeclaration);
  const isIncluded = ({ id }: AnyPlugin) => !disabled.includes(id);
  const own = catalogue.filter(isIncluded);
  const guests = foreign.filter(isIncluded);
  const leftOut = [...catalogue, ...foreign].filter((plugin) => !isIncluded(plugin));
  omissions.push(...leftOut.map((plugin) => toOmission(plugin, "disabled", "")));
  const unknown = disabled.filter((id) => ![...catalogue, ...foreign].some((plugin) => plugin.id === id));
  if (unknown.length > 0) {
    log.warn({ unknown }, "PLUGINS_DISABLED names what is no plugin here");
  }
  // A page may ask for a permission of a plugin that is left out: only administrators hold it then.
  const permissions = new Set(
    [...catalogue, ...foreign].flatMap((plugin) =>
      (plugin.permissions ?? []).map(({ path }: Permission) => path),
    ),
  );
  const context = { kernelServices: kernelServiceIds, leftOut, permissions };
  requireOwnPages(own, permissions);
  const unfit = findUnfit(own, guests, context);
  for (const [plugin, reason] of unfit) {
    log.error({ plugin: plugin.id, reason }, "a plugin of PLUGINS_PATH does not fit; it is left out");
    omissions.push(toOmission(plugin, "broken", `It does not fit: ${reason}.`));
  }
  return orderPlugins([...own, ...guests.filter((guest) => !unfit.has(guest))], kernelServiceIds, leftOut);
}

/**
 * Declares the plugins' variables and returns their live values, plugins in the same order. A foreign plugin whose
 * variable is taken is left out. Throws ConfigError for a wrong value.
 */
export function declareSettings(
  plugins: readonly AnyPlugin[],
  {
    registry,
    foreign,
    log,
    omissions = [],
  }: Omit<Choice, "catalogue" | "disabled"> & { registry: ConfigRegistry },
): Map<AnyPlugin, Values<Variables>> {
  const configs = new Map<AnyPlugin, Values<Variables>>();
  for (const plugin of plugins) {
    try {
      configs.set(plugin, registry.declare(plugin.id, (plugin.config ?? {}) as Variables));
    } catch (error) {
      // A wrong value is the operator's to correct, whoever declared the variable.
      if (error instanceof ConfigError || !foreign.includes(plugin)) {
        throw error;
      }
      log.error({ err: error, plugin: plugin.id }, "a plugin of PLUGINS_PATH does not fit; it is left out");
      omissions.push(toOmission(plugin, "broken", `It does not fit: ${(error as Error).message}`));
    }
  }
  return configs;
}

function toOmission(plugin: AnyPlugin, cause: Omission["cause"], reason: string): Omission {
  return { id: plugin.id as string, plugin, cause, reason };
}

function requireOwnDeclaration(plugin: AnyPlugin): void {
  try {
    requireDeclaration(plugin);
  } catch (error) {
    throw new BootError(`The plugin ${plugin?.id} cannot be used: ${(error as Error).message}.`, {
      cause: error,
    });
  }
}

interface Surroundings {
  readonly kernelServices: ReadonlySet<string>;
  readonly leftOut: readonly AnyPlugin[];
  /** Every permission that some plugin declares. */
  readonly permissions: ReadonlySet<string>;
}

function requireOwnPages(plugins: readonly AnyPlugin[], permissions: ReadonlySet<string>): void {
  for (const [at, plugin] of plugins.entries()) {
    const problem = findPageClash(plugin, plugins.slice(0, at), permissions);
    if (problem !== undefined) {
      throw new BootError(`The plugin ${plugin.id} cannot be used: ${problem}.`);
    }
  }
}

/** Why one of the candidate's pages cannot stand beside those of the others. */
function findPageClash(
  candidate: AnyPlugin,
  others: readonly AnyPlugin[],
  permissions: ReadonlySet<string>,
): string | undefined {
  for (const { id, path, access } of pagesOf(candidate)) {
    const permission = access.split("permission:")[1];
    if (permission !== undefined && !permissions.has(permission)) {
      return `its page "${id}" asks for the permission ${permission}, which no plugin declares`;
    }
    const shape = toPathShape(path);
    const other = others.find((plugin) => pagesOf(plugin).some((page) => toPathShape(page.path) === shape));
    if (other !== undefined) {
      return `its page "${id}" has the path ${path}, as a page of the plugin ${other.id} does`;
    }
  }
  return undefined;
}

function pagesOf({ pages }: AnyPlugin): readonly Page[] {
  return (pages as readonly Page[] | undefined) ?? [];
}

/**
 * Tells which of `candidates` cannot be set up among `plugins`: their id or service is taken, or what they need is
 * missing, also because another candidate goes. The reasons follow the words "the plugin …".
 */
function findUnfit(
  plugins: readonly AnyPlugin[],
  candidates: readonly AnyPlugin[],
  { kernelServices, leftOut, permissions }: Surroundings,
): Map<AnyPlugin, string> {
  const unfit = new Map<AnyPlugin, string>();
  for (;;) {
    const remaining = candidates.filter((candidate) => !unfit.has(candidate));
    const found = remaining.find((candidate, at) => {
      const others = [...plugins, ...remaining.slice(0, at)];
      const all = [...plugins, ...remaining];
      const reason =
        findClash(candidate, others, kernelServices) ??
        findPageClash(candidate, others, permissions) ??
        findMissing(candidate, all, { kernelServices, leftOut });
      return reason !== undefined && unfit.set(candidate, reason);
    });
    if (found === undefined) {
      return unfit;
    }
  }
}

function findClash(
  candidate: AnyPlugin,
  others: readonly AnyPlugin[],
  kernelServices: ReadonlySet<string>,
): string | undefined {
  if (others.some(({ id }) => id === candidate.id)) {
    return `its id "${candidate.id}" is taken by another plugin; choose another one`;
  }
  const own = providedBy(candidate).find(
    (id) => kernelServices.has(id) || others.some((other) => providedBy(other).includes(id)),
  );
  const first = others.find((other) => own !== undefined && providedBy(other).includes(own))?.id ?? "kernel";
  return own && `it provides the service ${own}, as ${first} does; name one of them in PLUGINS_DISABLED`;
}

function findMissing(
  candidate: AnyPlugin,
  all: readonly AnyPlugin[],
  { kernelServices, leftOut }: { kernelServices: ReadonlySet<string>; leftOut: readonly AnyPlugin[] },
): string | undefined {
  const needed = dependenciesOf(candidate).filter(({ optional }) => !optional);
  const missing = needed.find(
    ({ id }) => !kernelServices.has(id) && !all.some((plugin) => providedBy(plugin).includes(id)),
  );
  return missing && `it needs the service ${missing.id}, which ${describeGap(missing.id, leftOut)}`;
}
