import { hasPermission } from "./access/permissions.ts";
import { isMember, type Principal } from "./access/principal.ts";

/** Where the interface links a page; a `hidden` one is reached by its path alone. */
export const places = ["main", "workspace", "settings", "admin", "hidden"] as const;

/** Headings of the list of a place, in their order; pages without one stand below them. */
export const pageGroups = ["people", "models", "reports", "server"] as const;

/** A page of the interface, declared as plain data: what it shows is the plugin's `web/` folder's. */
export interface Page {
  /** The plugin's id, or `<plugin id>.<word>` where a plugin has several pages. */
  readonly id: string;
  /** `/` or lower-case segments, of which those after the first may be named, as in `/c/:id`. */
  readonly path: `/${string}`;
  /** Key of the language file, or plain text. */
  readonly title: string;
  /** Name in the icon set of the interface. */
  readonly icon?: string;
  readonly place: (typeof places)[number];
  /** The heading that it stands under where its place has a list. */
  readonly group?: (typeof pageGroups)[number];
  /** Pages of one place and group stand in this order, those without one last. */
  readonly order?: number;
  /** `public`: anybody, also without an account, such as readers of a shared chat. */
  readonly access: "public" | "user" | "admin" | `permission:${string}`;
}

/** True when the caller may open the page. */
export function mayOpen({ access }: Page, caller: Principal | undefined): boolean {
  if (access === "public") {
    return true;
  }
  if (caller === undefined) {
    return false;
  }
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
  "favicon.ico",
  "favicon.png",
  "favicon.svg",
  "frames",
  "health",
  "icons",
  "manifest.json",
  "metrics",
  "oauth",
  "ollama",
  "openai",
  "openapi.json",
  "opensearch.xml",
  "plugins",
  "preview",
  "pyodide",
  "ready",
  "runtime",
  "scim",
  "ws",
]);

/** The path without the names of its segments: two pages whose shapes are equal would answer the same addresses. */
export function toPathShape(path: string): string {
  return path.replaceAll(/:[a-z_]+/g, ":");
}

/** What is wrong with one declared page, in words that follow `its page "…"`; undefined when nothing is. */
export function findPageProblem(plugin: string, page: Page): string | undefined {
  const { id, path, title, icon, place, order, access } = page;
  if (typeof id !== "string" || (id !== plugin && !isBelow(plugin, id))) {
    return `must have the id "${plugin}" or one that begins with "${plugin}.", as in "${plugin}.list"`;
  }
  const pathProblem = findPathProblem(plugin, path);
  if (pathProblem !== undefined) {
    return `has the path ${pathProblem}`;
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
  if (path.includes(":") && place !== "hidden") {
    return `has the path ${path} and the place ${place}: what nobody can link without an id is "hidden"`;
  }
  if (order !== undefined && !Number.isFinite(order)) {
    return `has the order ${JSON.stringify(order)}, which is no number`;
  }
  if (!/^(public|user|admin|permission:[a-z][a-z0-9_]*\.[a-z][a-z0-9_]*)$/.test(String(access))) {
    return `must say who may open it; access is ${JSON.stringify(access)}, not public, user, admin or "permission:section.key"`;
  }
  return undefined;
}

/** The first segment is never a named one: such a page would take the addresses of every other. */
function findPathProblem(plugin: string, path: unknown): string | undefined {
  if (
    typeof path !== "string" ||
    !/^\/$|^\/[a-z0-9][a-z0-9_-]*(\/([a-z0-9][a-z0-9_-]*|:[a-z_]+))*$/.test(path)
  ) {
    return `${JSON.stringify(path)}: write lower-case segments, as in "/${plugin}" or "/${plugin}/:id"`;
  }
  if (reservedSegments.has(path.split("/")[1] ?? "")) {
    return `${path}, which the platform answers itself; choose another one`;
  }
  const names = path.match(/:[a-z_]+/g) ?? [];
  return new Set(names).size < names.length ? `${path}, which names two segments alike` : undefined;
}

function isBelow(plugin: string, id: string): boolean {
  return id.startsWith(`${plugin}.`) && /^[a-z0-9][a-z0-9-]*$/.test(id.slice(plugin.length + 1));
}
