import type { Capabilities } from "../calls/facts.ts";

/** The capabilities of `now` that `before` does not have, as meta.capabilities names them. */
export function toWidened(before: Capabilities, now: Capabilities): readonly string[] {
  const hosts = now.fetch.filter((host) => !before.fetch.some((allowed) => covers(allowed, host)));
  const flags = (["complete", "storage"] as const).filter((name) => now[name] && !before[name]);
  return [...hosts.map((host) => `fetch: ${host}`), ...flags];
}

const opening = "Switched off because the last change widened what the code may do";

/** Why a function was switched off, for administrators; they enable it again when they agree. */
export function toWideningReason(widened: readonly string[]): string {
  return `${opening} (${widened.join(", ")}). Enable it again to allow that.`;
}

export const isWideningReason = (error: string | null): boolean => error?.startsWith(opening) ?? false;

/** Whether every address that `host` allows is one of `allowed` (host/fetch.ts). */
function covers(allowed: string, host: string): boolean {
  const [wide, narrow] = [split(allowed), split(host)];
  const isName = wide.name.startsWith("*.")
    ? narrow.name.endsWith(wide.name.slice(1))
    : narrow.name === wide.name;
  return isName && (wide.port === "*" || wide.port === narrow.port);
}

function split(pattern: string): { name: string; port: string } {
  const [, name = "", port = ""] = /^(.*?)(?::(\d+|\*))?$/.exec(pattern) ?? [];
  return { name, port };
}
