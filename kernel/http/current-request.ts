import { AsyncLocalStorage } from "node:async_hooks";
import type { Principal } from "#kernel/access/principal.ts";
import type { AnyRoute, RequestInfo } from "./route.ts";
import type { Surface } from "./surfaces.ts";

/** The author of a change and its origin. */
export interface RequestOrigin {
  readonly requestId: string;
  readonly caller: Principal | undefined;
  /** The client's address after FORWARDED_ALLOW_IPS. */
  readonly address: string;
  /** The User-Agent header; null when the client sent none. */
  readonly client: string | null;
}

const origins = new AsyncLocalStorage<RequestOrigin>();

/** The origin of the change that runs; undefined outside of one, and in requests that only read. */
export function currentRequest(): RequestOrigin | undefined {
  return origins.getStore();
}

/**
 * Runs the handler of a route that changes something so that everything it calls learns of its origin. Model calls,
 * which are on other surfaces and no administrator's alone, go without its cost.
 */
export function withOrigin<T>(
  { route, surface }: { readonly route: AnyRoute; readonly surface: Surface },
  { info, caller }: { readonly info: RequestInfo; readonly caller: Principal | undefined },
  run: () => T,
): T {
  const isReading = route.method === "GET" || route.method === "HEAD";
  const isRecorded = surface === "api" || surface === "scim" || route.access === "admin";
  if (route.hasOrigin !== true && (isReading || !isRecorded)) {
    return run();
  }
  const { id, address, headers } = info;
  return origins.run({ requestId: id, caller, address, client: headers["user-agent"] ?? null }, run);
}
