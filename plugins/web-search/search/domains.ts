/**
 * Whether a list of sites lets an address through: entries that begin with `!` keep their sites out, and where others
 * are named only those are let in. A site covers the names below it.
 */
export function allowsHost(url: URL, list: readonly string[]): boolean {
  const entries = list
    .map((entry) => entry.trim().toLowerCase())
    .filter((entry) => entry !== "" && entry !== "!");
  const blocked = entries.filter((entry) => entry.startsWith("!")).map((entry) => toHost(entry.slice(1)));
  const allowed = entries.filter((entry) => !entry.startsWith("!")).map(toHost);
  const host = url.hostname.replace(/\.$/, "");
  const isOf = (site: string) => host === site || host.endsWith(`.${site}`);
  return !blocked.some(isOf) && (allowed.length === 0 || allowed.some(isOf));
}

/** The host of what people write into such lists: a host, one with a star before it, or an address. */
function toHost(entry: string): string {
  const named = entry.trim();
  const host = named.includes("://") ? (URL.parse(named)?.hostname ?? named) : (named.split("/")[0] ?? named);
  return host.replace(/^\*?\./, "");
}
