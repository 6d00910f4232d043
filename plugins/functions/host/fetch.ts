import type { Egress } from "#kernel/egress/egress.ts";
import { AppError } from "#kernel/errors.ts";
import type { Json } from "#kernel/sandbox.ts";
import { toBag } from "./host-call.ts";

export interface HostFetchOptions {
  readonly egress: Pick<Egress, "fetch">;
  limits(): { readonly fetchBytes: number; readonly fetchSeconds: number };
}

/** The `init` of `host.fetch(url, init)`. */
interface FetchInit {
  readonly method: string;
  readonly headers: Record<string, string>;
  readonly body: string | undefined;
}

/**
 * `host.fetch(url, {method, headers, body})` → `{status, ok, headers, body}` with the body as text. Only hosts that
 * `meta.capabilities.fetch` names; private addresses are refused, redirects are not followed. An object as body is
 * sent as JSON.
 */
export function createHostFetch({ egress, limits }: HostFetchOptions) {
  return async (
    { hosts, signal }: { hosts: readonly string[]; signal: AbortSignal | undefined },
    [address, given]: readonly Json[],
  ): Promise<Json> => {
    const url = requireAllowed(address, hosts);
    const { method, headers, body } = toInit(given);
    const { fetchBytes, fetchSeconds } = limits();
    const answer = await egress.fetch(url, {
      trust: "user",
      redirects: false,
      method,
      headers,
      body,
      signal,
      maxBytes: fetchBytes,
      timeoutMs: fetchSeconds * 1000,
    });
    return {
      status: answer.status,
      ok: answer.ok,
      headers: Object.fromEntries(answer.headers),
      body: await answer.text(),
    };
  };
}

/** Throws AppError `forbidden` for a host that the function did not declare. */
function requireAllowed(address: unknown, hosts: readonly string[]): URL {
  const url = typeof address === "string" ? URL.parse(address) : null;
  if (url === null) {
    throw new AppError("invalid", "host.fetch needs a whole URL.");
  }
  if (!hosts.some((allowed) => isAllowed(url, allowed))) {
    throw new AppError("forbidden", `This code did not declare ${url.host} in meta.capabilities.fetch.`);
  }
  return url;
}

/** `api.example.com`, `*.example.com`, both with a port or `:*` for any; without one the port is the scheme's own. */
function isAllowed(url: URL, allowed: string): boolean {
  const [, name = "", port = ""] = /^(.*?)(?::(\d+|\*))?$/.exec(allowed) ?? [];
  const isName = name.startsWith("*.") ? url.hostname.endsWith(name.slice(1)) : url.hostname === name;
  const own = url.protocol === "https:" ? "443" : "80";
  return isName && (port === "*" || (port === own ? "" : port) === url.port);
}

function toInit(given: Json | undefined): FetchInit {
  const init = toBag(given);
  const headers = Object.entries(toBag(init["headers"]));
  const body = init["body"] ?? undefined;
  const isText = typeof body === "string" || body === undefined;
  return {
    method: typeof init["method"] === "string" ? init["method"] : "GET",
    headers: {
      ...(isText ? {} : { "content-type": "application/json" }),
      ...Object.fromEntries(headers.map(([name, value]) => [name, String(value)])),
    },
    body: isText ? body : JSON.stringify(body),
  };
}
