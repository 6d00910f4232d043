import type { Egress } from "#kernel/egress/egress.ts";
import { AppError } from "#kernel/errors.ts";
import type { Json } from "#kernel/sandbox/sandbox.ts";

export interface HostFetchOptions {
  readonly egress: Pick<Egress, "fetch">;
  limits(): { readonly fetchBytes: number; readonly fetchSeconds: number };
}

/** What a function may ask for with `host.fetch(url, init)`. */
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
    throw new AppError("forbidden", `This function did not declare ${url.host} in meta.capabilities.fetch.`);
  }
  return url;
}

function isAllowed(url: URL, allowed: string): boolean {
  if (allowed.startsWith("*.")) {
    return url.port === "" && url.hostname.endsWith(allowed.slice(1));
  }
  // `host` has the port when it is not the scheme's own.
  return url.host === allowed;
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

function toBag(value: Json | undefined): Readonly<Record<string, Json>> {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Readonly<Record<string, Json>>)
    : {};
}
