import { hasPermission } from "./access/permissions.ts";
import { isMember, type Principal } from "./access/principal.ts";

/** Where the interface links a page; a `hidden` one is reached by its path alone. */
export const places = ["main", "workspace", "settings", "admin", "hidden"] as const;

/** A page of the interface, declared as plain data: what it shows is the plugin's `web/` folder's. */
export interface Page {
  /** The plugin's id, or `<plugin id>.<word>` where a plugin has several pages. */
  readonly id: string;
  readonly path: `/${string}`;
  /** Key of the language file, or plain text. */
  readonly title: string;
  /** Name in the icon set of the interface. */
  readonly icon?: string;
  readonly place: (typeof places)[number];
  /** Pages of one place stand in this order, those without one last. */
  readonly order?: number;
  readonly access: "user" | "admin" | `permission:${string}`;
}

/** True when the caller may open the page. */
export function mayOpen({ access }: Page, caller: Principal): boolean {
  if (access === "user") {
    return isMember(caller);
  }
  return access === "admin"
    ? caller.role === "admin"
    : isMember(caller) && hasPermission(caller, access.slice("permission:".length));
}

/** First segments of paths that the platform answers itself; a test holds them against the routes. */
export const reservedSegments: ReadonlySet<string> = new Set([
  "api",
  "assets",
  "compat",
  "docs",
  "favicon.svg",
  "health",
  "manifest.json",
  "openapi.json",
  "opensearch.xml",
  "plugins",
  "ready",
  "runtime",
  "ws",
]);

/** What is wrong with one declared page, in words that follow `its page "…"`; undefined when nothing is. */
export function findPageProblem(plugin: string, page: Page): string | undefined {
  const { id, path, title, icon, place, order, access } = page;
  if (typeof id !== "string" || (id !== plugin && !isBelow(plugin, id))) {
    return `must have the id "${plugin}" or one that begins with "${plugin}.", as in "${plugin}.list"`;
  }
  if (typeof path !== "string" || !/^(\/[a-z0-9][a-z0-9_-]*)+$/.test(path)) {
    return `has the path ${JSON.stringify(path)}: write lower-case segments, as in "/${plugin}"`;
  }
  if (reservedSegments.has(path.split("/")[1] ?? "")) {
    return `has the path ${path}, which the platform answers itself; choose another one`;
  }
  if (typeof title !== "string" || title.trim() === "") {
    return "has no title";
  }
  if (icon !== undefined && typeof icon !== "string") {
    return "has an icon that is no name";
  }
  if (!places.includes(place)) {
    return `has the place ${JSON.stringify(place)}; the places are ${places.join(", ")}`;
  }
  if (order !== undefined && !Number.isFinite(order)) {
    return `has the order ${JSON.stringify(order)}, which is no number`;
  }
  if (!/^(user|admin|permission:[a-z][a-z0-9_]*\.[a-z][a-z0-9_]*)$/.test(String(access))) {
    return `must say who may open it; access is ${JSON.stringify(access)}, not user, admin or "permission:section.key"`;
  }
  return undefined;
}

function isBelow(plugin: string, id: string): boolean {
  return id.startsWith(`${plugin}.`) && /^[a-z0-9][a-z0-9-]*$/.test(id.slice(plugin.length + 1));
}
