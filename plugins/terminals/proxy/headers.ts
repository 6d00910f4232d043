import type { IncomingHttpHeaders, OutgoingHttpHeaders } from "node:http";
import type { Upstream } from "#kernel/http/route.ts";

/**
 * What a client may tell a terminal server. Cookies, credentials, names of people and addresses of proxies are not among
 * it, so none can be forged or leak (security case S65).
 */
const passedOn = [
  "accept",
  "accept-language",
  "content-type",
  "content-length",
  "if-match",
  "if-modified-since",
  "if-none-match",
  "if-range",
  "if-unmodified-since",
  "range",
];

export function toRequestHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  const result: Record<string, string> = { "accept-encoding": "identity", "user-agent": "Millrace" };
  for (const name of passedOn) {
    const value = headers[name];
    if (typeof value === "string" && value !== "") {
      result[name] = value;
    }
  }
  return result;
}

/** What a terminal server may tell a client: no cookies, no policies, no redirects. */
const passedBack = [
  "accept-ranges",
  "cache-control",
  "content-disposition",
  "content-length",
  "content-range",
  "content-type",
  "etag",
  "last-modified",
  "retry-after",
];

export function toResponseHeaders(headers: Upstream["headers"]): OutgoingHttpHeaders {
  const result: OutgoingHttpHeaders = {
    // Whatever the server sends must not run as a page of this origin.
    "content-security-policy": "default-src 'none'; sandbox",
    "x-content-type-options": "nosniff",
    "cache-control": "no-store",
  };
  for (const name of passedBack) {
    if (headers[name] !== undefined) {
      result[name] = headers[name];
    }
  }
  return result;
}
