import type { IncomingMessage } from "node:http";
import type { Client } from "#kernel/http/forwarded.ts";

/** How far the page that opens a WebSocket is trusted. */
export type Site = "trusted" | "unknown" | "refused";

/**
 * Browsers name the page's origin and attach cookies whatever page asks, so a cookie counts only from this site and
 * from those that CORS_ALLOW_ORIGIN names; with `*` other pages may connect, but have to show a token.
 */
export function siteOf(
  { headers: { origin, host } }: IncomingMessage,
  client: Client,
  origins: readonly string[],
): Site {
  if (origin === undefined) {
    return "unknown";
  }
  const from = origin.replace(/^https?:\/\//, "");
  if (origins.includes(origin) || (from !== "" && (from === host || from === client.host))) {
    return "trusted";
  }
  return origins.includes("*") ? "unknown" : "refused";
}
