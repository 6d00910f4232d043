import type { Egress, Trust } from "#kernel/egress/egress.ts";
import { guardAnswer } from "./answer-guard.ts";

/** What a refusal of a server says (RFC 6750, RFC 9728). */
export interface Challenge {
  readonly status: 401 | 403;
  readonly resourceMetadataUrl: string | undefined;
  readonly scope: string | undefined;
}

/** The credential of one person, or of the connection, at a server. */
export interface Credential {
  /** The value of the header of now; undefined where none is sent. */
  authorization(): Promise<string | undefined>;
  /** True when another try makes sense. Throws what the person has to do else. `used` was refused. */
  refused?(challenge: Challenge, used: string | undefined): Promise<boolean>;
}

export type FetchLike = (url: string | URL, init?: RequestInit) => Promise<Response>;

/** Bytes of one answer; more breaks it off. */
const maxBytes = 64 * 1024 * 1024;

export interface ServerFetchParts {
  readonly egress: Pick<Egress, "fetch">;
  /** Origins that an administrator named; others are held to public addresses (contract D.15). */
  readonly trustedOrigins: readonly string[];
  /** Milliseconds for a whole exchange; null for none, as streams need it. */
  readonly timeoutMs?: number | null;
}

/** A `fetch` for the SDK that goes through the outbound client: every hop is checked, streams stay open. */
export function createServerFetch(parts: ServerFetchParts): FetchLike {
  return (url, init = {}) => {
    const isStream = (init.method ?? "GET") === "GET" && acceptsOnlyEvents(init.headers);
    return parts.egress.fetch(url, {
      trust: toTrust(url, parts.trustedOrigins),
      method: init.method ?? "GET",
      headers: init.headers ?? {},
      body: init.body instanceof URLSearchParams ? init.body.toString() : (init.body ?? undefined),
      signal: init.signal ?? undefined,
      timeoutMs: parts.timeoutMs ?? null,
      ...(isStream ? {} : { maxBytes }),
    });
  };
}

function toTrust(url: string | URL, origins: readonly string[]): Trust {
  return origins.includes(new URL(url).origin) ? "operator" : "user";
}

function acceptsOnlyEvents(headers: HeadersInit | undefined): boolean {
  return new Headers(headers).get("accept") === "text/event-stream";
}

/** Adds the credential to every request of a connection, and answers refusals with one more try. */
export function withCredential(
  fetchServer: FetchLike,
  credential: Credential,
  headers: Readonly<Record<string, string>>,
): FetchLike {
  return async (url, init = {}) => {
    const send = async (authorization: string | undefined) =>
      fetchServer(url, { ...init, headers: toHeaders([headers, init.headers ?? {}], authorization) });
    const authorization = await credential.authorization();
    let response = await send(authorization);
    const challenge = readChallenge(response);
    if (challenge !== undefined && credential.refused !== undefined) {
      await response.body?.cancel();
      if (await credential.refused(challenge, authorization)) {
        response = await send(await credential.authorization());
      } else {
        return new Response(null, { status: response.status, headers: response.headers });
      }
    }
    return guardAnswer(response, init.body);
  };
}

function toHeaders(parts: readonly HeadersInit[], authorization: string | undefined): Headers {
  const headers = new Headers();
  for (const part of parts) {
    new Headers(part).forEach((value, name) => headers.set(name, value));
  }
  if (authorization !== undefined) {
    headers.set("authorization", authorization);
  }
  return headers;
}

/** Reads a refusal that a token would answer; undefined for every other answer. */
export function readChallenge(response: Response): Challenge | undefined {
  const { status } = response;
  const header = response.headers.get("www-authenticate") ?? "";
  const field = (name: string) => new RegExp(`\\b${name}="?([^",]+)"?`, "i").exec(header)?.[1];
  if (status !== 401 && !(status === 403 && field("error") === "insufficient_scope")) {
    return undefined;
  }
  return { status, resourceMetadataUrl: field("resource_metadata"), scope: field("scope") };
}
