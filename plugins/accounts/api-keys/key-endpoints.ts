import { withoutAlias } from "#kernel/http/surfaces.ts";

/**
 * True when `path` is one of `allowed` or stands below one (Core API, authentication rule 5). A path that says one
 * thing to this check and might say another to the router is never allowed.
 */
export function isPathAllowed(path: string, allowed: readonly string[]): boolean {
  if (toPlainPath(path) !== path || path.includes("//") || /%(2e|2f|5c)/i.test(path)) {
    return false;
  }
  return allowed
    .map(toEntry)
    .some((entry) => entry !== "" && (path === entry || path.startsWith(`${entry}/`)));
}

function toEntry(entry: string): string {
  const path = entry.trim().replace(/(?<!\/)\/+$/, "");
  return path === "" || path.startsWith("/") ? withoutAlias(path) : withoutAlias(`/${path}`);
}

function toPlainPath(path: string): string | undefined {
  return URL.parse(path, "http://host")?.pathname;
}
