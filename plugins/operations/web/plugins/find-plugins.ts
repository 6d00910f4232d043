import type { Api } from "#plugins/catalogue.ts";

export type Listed = Api["GET /api/v1/operations/plugins"]["answer"];
export type Plugin = Listed["plugins"][number];
export type Service = Listed["services"][number];

/** Which plugins are shown. */
export type Choice = "all" | "running" | "left-out" | "foreign";

const isRunning = ({ state }: Plugin): boolean => state === "on" || state === "off";

/** The plugins of a choice in which every word of the query stands somewhere: names, routes, tables, services. */
export function findPlugins(
  plugins: readonly Plugin[],
  { query, choice }: { query: string; choice: Choice },
): readonly Plugin[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  return plugins.filter(
    (plugin) => isChosen(plugin, choice) && words.every((word) => textOf(plugin).includes(word)),
  );
}

function isChosen(plugin: Plugin, choice: Choice): boolean {
  switch (choice) {
    case "running":
      return isRunning(plugin);
    case "left-out":
      return !isRunning(plugin);
    case "foreign":
      return plugin.folder !== null;
    default:
      return true;
  }
}

const texts = new WeakMap<Plugin, string>();

function textOf(plugin: Plugin): string {
  const known = texts.get(plugin) ?? JSON.stringify(plugin).toLowerCase();
  texts.set(plugin, known);
  return known;
}

/** The line of the environment that leaves `ids` out beside those that are left out now. */
export function toDisabledLine(
  disabled: readonly string[],
  change: { add?: string; remove?: string },
): string {
  const ids = new Set(disabled);
  if (change.remove !== undefined) {
    ids.delete(change.remove);
  }
  if (change.add !== undefined) {
    ids.add(change.add);
  }
  return `PLUGINS_DISABLED=${[...ids].join(",")}`;
}
