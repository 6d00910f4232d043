import { AppError } from "#kernel/errors.ts";
import { brokenText } from "./broken-text.ts";

/** The router hands parameters over as they stand in the URL. No row has a NUL in its name, and no database takes one. */
export function decodeParams(params: Record<string, string> = {}): Record<string, string> {
  const decoded = Object.entries(params).map(([name, value]) => [name, decodeURIComponent(value)] as const);
  if (decoded.some(([, value]) => value.includes("\0"))) {
    throw new AppError("invalid", "The path is not validly encoded.");
  }
  return Object.fromEntries(decoded);
}

/** The query of a URL; a name that comes several times has a list. */
export function toQuery(url: string): Record<string, string | string[]> {
  const query: Record<string, string | string[]> = Object.create(null);
  const mark = url.indexOf("?");
  if (mark === -1) {
    return query;
  }
  for (const [name, value] of new URLSearchParams(url.slice(mark + 1))) {
    if (value.includes("\0")) {
      throw brokenText(["query", name]);
    }
    const known = query[name];
    query[name] = known === undefined ? value : Array.isArray(known) ? [...known, value] : [known, value];
  }
  return query;
}
