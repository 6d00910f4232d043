import { lookup as dnsLookup } from "node:dns";
import type { LookupFunction } from "node:net";
import type { Readable } from "node:stream";
import type { WebSocket } from "ws";
import { exchange, type UpstreamResponse } from "./exchange.ts";
import { toHeaderRefusal } from "./failure.ts";
import { type FetchBody, fetchOnce, toSendable } from "./fetch.ts";
import { follow, type Route } from "./follow.ts";
import type { SegmentedBody } from "./segmented-body.ts";
import { createPools } from "./pools.ts";
import type { Hop, OutgoingHeaders } from "./redirect.ts";
import { isPublicHost } from "./public-host.ts";
import { takeCredentials, toTarget, toUrl, type Trust } from "./target.ts";
import { openWebSocket, type WebSocketInit } from "./web-socket.ts";

export type { UpstreamResponse } from "./exchange.ts";
export type { WebSocket } from "ws";
export type { FetchBody } from "./fetch.ts";
export type { Trust } from "./target.ts";

/** Settings, read at every request. */
export interface EgressOptions {
  /** EGRESS_ALLOWED_PRIVATE_ORIGINS, as "scheme://host:port". */
  allowedPrivateOrigins(): readonly string[];
  /** AIOHTTP_CLIENT_SESSION_SSL: true, false, or the path of a CA bundle. */
  ssl(): boolean | string;
  /** AIOHTTP_CLIENT_SSL_CERT_FILE, "" when unset. */
  caFile(): string;
  /** SSL_ASSERT_FINGERPRINT, "" when unset. */
  fingerprint(): string;
  /** AIOHTTP_CLIENT_ALLOW_REDIRECTS. */
  allowRedirects(): boolean;
  /** AIOHTTP_CLIENT_TIMEOUT in seconds, null for no limit. */
  timeoutSeconds(): number | null;
  /** How names become addresses; `dns.lookup` when left out. */
  lookup?: LookupFunction;
}

interface CommonInit {
  readonly trust: Trust;
  readonly method?: string;
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds in all, null for no limit; AIOHTTP_CLIENT_TIMEOUT when left out. */
  readonly timeoutMs?: number | null | undefined;
  /** False where a redirect must not be followed whatever the settings say. */
  readonly redirects?: boolean;
  /** Further origins that may be private in this request, as "scheme://host:port". */
  readonly allowedOrigins?: readonly string[];
  /** Told where a redirect points, before it is followed or refused; it may throw to refuse. */
  readonly onRedirect?: (to: URL) => void;
}

export interface FetchInit extends CommonInit {
  readonly headers?: HeadersInit;
  /** A plain object or array is sent as JSON. */
  readonly body?: FetchBody | null | undefined;
  /** Bytes of the decompressed answer; more breaks it off with AppError "upstream". */
  readonly maxBytes?: number | undefined;
}

export interface RequestInit extends CommonInit {
  readonly headers?: OutgoingHeaders;
  readonly body?: string | Uint8Array | SegmentedBody | Readable | undefined;
  /** Milliseconds until the head of the answer; no limit when left out. */
  readonly headersTimeoutMs?: number | undefined;
  /** Milliseconds of silence within the body; no limit when left out. */
  readonly idleTimeoutMs?: number | undefined;
}

/**
 * The one outbound client. Failures are AppErrors: "forbidden" (address not allowed), "timeout", "upstream",
 * "invalid" (not a URL); the caller's own abort comes back as the reason of its signal.
 */
export interface Egress {
  /**
   * For everything that is not the hot path. A redirect that is not followed is AppError "upstream".
   * Read the body or cancel it: until then its connection stays open.
   */
  fetch(url: string | URL, init: FetchInit): Promise<Response>;
  /**
   * The hot path: a node stream, no web streams, nothing decompressed. An unfollowed redirect is handed to "operator"
   * callers as it is, and is AppError "upstream" for others. Destroy the body to abort.
   */
  request(url: string | URL, init: RequestInit): Promise<UpstreamResponse>;
  /** Opens a WebSocket at an http or https address; it comes paused. Redirects are refused. Whoever opens it closes it. */
  webSocket(url: string | URL, init: WebSocketInit): Promise<WebSocket>;
  /**
   * Whether "user" requests may be sent to an address, as far as its name tells now: what somebody stores can be refused
   * before it is used. A name that cannot be looked up counts as allowed; each request is checked again.
   */
  mayReach(url: string | URL): Promise<boolean>;
  /** Breaks what is still open; later requests are refused. */
  close(): Promise<void>;
}

/** Creates the outbound client; all connections of the process to others should be made by one of these. */
export function createEgress(options: EgressOptions): Egress {
  const connecting = {
    tls: () => ({ ssl: options.ssl(), caFile: options.caFile(), fingerprint: options.fingerprint() }),
    lookup: options.lookup ?? (dnsLookup as LookupFunction),
    connectTimeoutMs: 30_000,
  };
  const pools = createPools({ ...connecting, silenceMs: noLimit, max: 256 });
  return {
    fetch: async (url, init) => {
      const { body, contentType } = await toSendable(init.body ?? undefined);
      const given = toPlainHeaders(init.headers);
      const headers = {
        "user-agent": "Millrace",
        ...(contentType && { "content-type": contentType }),
        ...given,
      };
      const until = createBudget(init, options);
      return follow(() => toFirstHop(url, init, headers, body), toRoute(init, options), {
        send: (hop, isChecked) =>
          fetchOnce(pools.open({ url: hop.url, isChecked }), {
            ...hop,
            signal: init.signal,
            timeoutMs: until(),
            maxBytes: init.maxBytes,
          }),
        read: (response) => ({ status: response.status, location: response.headers.get("location") }),
        drop: (response) => void response.body?.cancel().catch(() => {}),
        isPassedOn: false,
      });
    },
    request(url, init) {
      const until = createBudget(init, options);
      const first = () => toFirstHop(url, init, toLowerCase(init.headers ?? {}), init.body);
      return follow(first, toRoute(init, options), {
        send: (hop, isChecked) =>
          exchange(pools.open({ url: hop.url, isChecked }), {
            method: hop.method,
            headers: hop.headers,
            body: hop.body,
            path: hop.url.pathname + hop.url.search,
            signal: init.signal,
            headersTimeoutMs: init.headersTimeoutMs ?? noLimit,
            idleTimeoutMs: init.idleTimeoutMs ?? noLimit,
            totalTimeoutMs: until(),
          }),
        read: ({ status, headers }) => ({ status, location: headers["location"] }),
        drop: (response) => void response.body.destroy(),
        isPassedOn: init.trust === "operator",
      });
    },
    webSocket: (url, init) =>
      openWebSocket(url, init, { ...connecting, allowedOrigins: options.allowedPrivateOrigins }),
    async mayReach(address) {
      const { url, isChecked } = toTarget(toUrl(address), "user", options.allowedPrivateOrigins());
      return !isChecked || (await isPublicHost(url.hostname));
    },
    close: () => pools.close(),
  };
}

/**
 * Where no variable sets a time, none ends a request: TCP keepalive finds peers that are gone, and a caller who leaves
 * aborts (contract D.15).
 */
const noLimit = 0;

/** `headers` is the caller's own copy. */
function toFirstHop<Body>(
  address: string | URL,
  init: CommonInit,
  headers: OutgoingHeaders,
  body: Body,
): Hop<Body> {
  const { url, authorization } = parseAddress(address);
  if (init.trust !== "operator") {
    // A name of the caller's choice would decide which site of a shared address answers.
    delete headers["host"];
  }
  return {
    url,
    method: (init.method ?? "GET").toUpperCase(),
    headers: authorization === undefined ? headers : { authorization, ...headers },
    body,
  };
}

interface Address {
  readonly url: URL;
  readonly authorization: string | undefined;
}

/** Providers are called at the same few addresses again and again; parsing one costs as much as routing a request. */
const addresses = new Map<string, Address>();
const maxAddresses = 512;

function parseAddress(address: string | URL): Address {
  const text = String(address);
  const known = addresses.get(text);
  if (known !== undefined) {
    return known;
  }
  const url = toUrl(text);
  const parsed = { authorization: takeCredentials(url), url };
  if (addresses.size >= maxAddresses) {
    addresses.clear();
  }
  addresses.set(text, parsed);
  return parsed;
}

function toRoute(init: CommonInit, options: EgressOptions): Route {
  return {
    trust: init.trust,
    allowedOrigins: init.allowedOrigins
      ? [...options.allowedPrivateOrigins(), ...init.allowedOrigins]
      : options.allowedPrivateOrigins(),
    allowRedirects: init.redirects !== false && options.allowRedirects(),
    ...(init.onRedirect && { onRedirect: init.onRedirect }),
  };
}

/** The milliseconds that are left of a request's total time, whatever number of redirects it takes. */
function createBudget(init: CommonInit, options: EgressOptions): () => number | null {
  const seconds = options.timeoutSeconds();
  const total = init.timeoutMs === undefined ? (seconds === null ? null : seconds * 1000) : init.timeoutMs;
  const end = total === null ? null : performance.now() + total;
  return () => (end === null ? null : Math.max(1, end - performance.now()));
}

function toLowerCase(headers: OutgoingHeaders): OutgoingHeaders {
  const result: OutgoingHeaders = {};
  for (const name of Object.keys(headers)) {
    result[name.toLowerCase()] = headers[name];
  }
  return result;
}

function toPlainHeaders(headers: HeadersInit | undefined): OutgoingHeaders {
  try {
    return Object.fromEntries(new Headers(headers));
  } catch (cause) {
    throw toHeaderRefusal(cause);
  }
}
