import type { IncomingMessage } from "node:http";
import type { Authenticator, RequestFacts } from "#kernel/access/authenticator.ts";
import { hasPermission } from "#kernel/access/permissions.ts";
import { isMember, type Principal } from "#kernel/access/principal.ts";
import { AppError } from "#kernel/errors.ts";
import type { Credential } from "./credential.ts";
import type { AnyRoute, RequestInfo } from "./route.ts";
import type { SurfaceFacts } from "./surfaces.ts";

/** The header in which a page says for which account it was opened; in an answer it says that it is another one now. */
const accountHeader = "x-account";

/** Asks the authenticator who calls; public routes go on without a caller when the credential is no good. */
export function resolveCaller({
  route,
  credential,
  info,
  authenticator,
}: {
  route: AnyRoute;
  credential: Credential | undefined;
  info: RequestInfo;
  authenticator: Authenticator;
}): Promise<Principal | undefined> | Principal | undefined {
  if (route.access === "token") {
    return undefined;
  }
  const isPublic = route.access === "public";
  if (credential === undefined) {
    if (isPublic) {
      return undefined;
    }
    throw new AppError("unauthenticated", "Not authenticated");
  }
  const facts = toFacts(info);
  if (!isPublic) {
    return authenticator.authenticate(credential, facts);
  }
  // A stale cookie must not keep anybody from signing in or from seeing a public page.
  return Promise.resolve()
    .then(() => authenticator.authenticate(credential, facts))
    .catch((error: unknown) => {
      if (error instanceof AppError && (error.code === "unauthenticated" || error.code === "forbidden")) {
        return undefined;
      }
      throw error;
    });
}

/** What of a request its credential is judged by. */
export function toFacts({ method, url, address, headers, isProxied }: RequestInfo): RequestFacts {
  const query = url.indexOf("?");
  const path = query < 0 ? url : url.slice(0, query);
  return { method, path, address, proxied: isProxied ? headers : undefined };
}

/** Throws `unauthenticated` or `forbidden` unless the caller is what the route declares. */
export function requireAccess(route: AnyRoute, caller: Principal | undefined): void {
  if (route.access === "public" || route.access === "token") {
    return;
  }
  if (caller === undefined) {
    throw new AppError("unauthenticated", "Not authenticated");
  }
  refuseViewer(route, caller);
  if (route.access === "account") {
    return;
  }
  if (!isMember(caller)) {
    throw new AppError("forbidden", "Your account is waiting for an administrator to activate it.");
  }
  if (route.access === "admin" && caller.role !== "admin") {
    throw new AppError("forbidden", "Only administrators may do this.");
  }
  if (
    route.access.startsWith("permission:") &&
    !hasPermission(caller, route.access.slice("permission:".length))
  ) {
    throw new AppError("forbidden", `You lack the permission ${route.access.slice("permission:".length)}.`);
  }
}

const isRead = ({ method, changes }: AnyRoute): boolean =>
  (method === "GET" || method === "HEAD") && changes !== true;

/** A view of another account changes nothing, and reads no credential of that account. */
function refuseViewer(route: AnyRoute, { viewer, name }: Principal): void {
  if (viewer !== undefined && (!isRead(route) || route.isSecret === true)) {
    throw new AppError(
      "forbidden",
      `You are viewing as ${name}: nothing can be changed, and no secret is shown.`,
    );
  }
}

/**
 * Refuses changes of a page that was opened for another account than the browser's cookie names by now, in whose name
 * they would be made. Pages say for which one they are; other clients need not.
 */
export function requireShownAccount(
  route: AnyRoute,
  caller: Principal | undefined,
  { headers }: Pick<RequestInfo, "headers">,
): void {
  const shown = headers[accountHeader];
  if (shown === undefined || caller === undefined || route.access === "public" || isRead(route)) {
    return;
  }
  const { userId, viewer } = caller;
  if (shown !== (viewer === undefined ? userId : `${userId} by ${viewer.id}`)) {
    throw new AppError("conflict", "Another account is signed in in this browser by now. Reload the page.", {
      headers: { [accountHeader]: "other" },
    });
  }
}

/**
 * Refuses changes that a foreign page sends with the session cookie: a browser attaches the cookie to requests
 * of foreign pages too, and those name their origin.
 */
export function requireSameOrigin(
  request: Addressed,
  {
    origins,
    changes = false,
  }: { readonly origins: readonly string[]; readonly changes?: boolean | undefined },
): void {
  if (isForeign(request, origins) || (changes && isSentByForeignPage(request, origins))) {
    throw new AppError("forbidden", "Requests with the session cookie are accepted from this site only.");
  }
}

/**
 * Refuses what a foreign page's form can send without asking first: signing a visitor in to somebody else's account
 * needs no cookie. A body that says it is JSON has passed the browser's preflight.
 */
export function requireNoForeignForm(request: Addressed, origins: readonly string[]): void {
  const isJson = /^application\/json\b/i.test(request.headers["content-type"] ?? "");
  if (!isJson && isForeign(request, origins)) {
    throw new AppError("forbidden", "Requests from other sites have to send JSON and say so.");
  }
}

/** Refuses a JSON body that says it is something else, or nothing, where a surface demands the type. */
export function requireJsonType(
  { demandsJsonType }: SurfaceFacts,
  route: AnyRoute,
  { method, headers }: IncomingMessage,
): void {
  const isDemanded = demandsJsonType === true && route.body !== undefined && method === "POST";
  if (isDemanded && !/^application\/(?:[\w.-]+\+)?json\b/i.test(headers["content-type"] ?? "")) {
    throw new AppError("invalid", "Content-Type: must be application/json.");
  }
}

/** A link or a picture of another site names no origin; browsers say so in a header of their own (Fetch Metadata). */
function isSentByForeignPage({ headers, host }: Addressed, origins: readonly string[]): boolean {
  const site = headers["sec-fetch-site"];
  const isOther = site === "cross-site" || site === "same-site";
  const { origin } = headers;
  return isOther
    ? origin === undefined || !origins.includes(origin)
    : isOtherOrigin(origin, { headers, host, origins });
}

type Addressed = Pick<RequestInfo, "headers" | "host" | "method">;

/** A page of this site names the host that was asked for, here or at the proxy in front. */
function isForeign({ headers, host, method }: Addressed, origins: readonly string[]): boolean {
  const isReading = method === "GET" || method === "HEAD";
  return !isReading && isOtherOrigin(headers.origin, { headers, host, origins });
}

function isOtherOrigin(
  origin: string | undefined,
  { headers, host, origins }: Pick<Addressed, "headers" | "host"> & { readonly origins: readonly string[] },
): boolean {
  if (origin === undefined || origins.includes(origin)) {
    return false;
  }
  const from = origin.replace(/^https?:\/\//, "");
  return from !== headers.host && from !== host;
}
