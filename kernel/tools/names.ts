import { createHash } from "node:crypto";

/** Providers refuse a request with a longer name. */
export const maxToolName = 64;

/**
 * A name that providers take: letters, digits, `_` and `-`, at most 64 of them. A longer one keeps its beginning and ends
 * with a hash of all of it, so that it is the same in every request and names that differ late stay apart.
 */
export function toProviderName(name: string): string {
  const plain = name.replaceAll(/[^A-Za-z0-9_-]/g, "_");
  if (plain.length <= maxToolName) {
    return plain;
  }
  const ending = `_${createHash("sha256").update(name).digest("hex").slice(0, 8)}`;
  return plain.slice(0, maxToolName - ending.length) + ending;
}
