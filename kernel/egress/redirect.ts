import { toUrl } from "./target.ts";

/** More redirects than this are a loop. */
export const maxRedirects = 10;

export type OutgoingHeaders = Record<string, string | string[] | undefined>;

/** One request of a chain of redirects. */
export interface Hop<Body> {
  readonly url: URL;
  readonly method: string;
  readonly headers: OutgoingHeaders;
  readonly body: Body | undefined;
}

/** Whether an answer points elsewhere. */
export function isRedirect(status: number, location: unknown): location is string {
  return redirects.has(status) && typeof location === "string" && location !== "";
}

/** The request that follows a redirect, with the method and body rules of the Fetch standard. */
export function toNextHop<Body>(hop: Hop<Body>, status: number, location: string): Hop<Body> {
  const url = toUrl(URL.parse(location, hop.url) ?? location);
  url.username = "";
  url.password = "";
  const becomesGet =
    (status === 303 && hop.method !== "HEAD" && hop.method !== "GET") ||
    ((status === 301 || status === 302) && hop.method === "POST");
  const headers = Object.entries(hop.headers).filter(
    ([name]) =>
      name !== "host" &&
      (url.origin === hop.url.origin || harmless.has(name)) &&
      !(becomesGet && name.startsWith("content-")),
  );
  return {
    url,
    method: becomesGet ? "GET" : hop.method,
    headers: Object.fromEntries(headers),
    body: becomesGet ? undefined : hop.body,
  };
}

const redirects = new Set([301, 302, 303, 307, 308]);

// Keys travel under many header names, so what crosses to another origin is a list of what is known to hold none.
const harmless = new Set([
  "accept",
  "accept-encoding",
  "accept-language",
  "content-encoding",
  "content-language",
  "content-length",
  "content-type",
  "if-modified-since",
  "if-none-match",
  "range",
  "user-agent",
]);
