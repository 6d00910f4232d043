import { z } from "zod";
import type { Principal } from "#kernel/access/principal.ts";
import { AppError } from "#kernel/errors.ts";
import { findCookie } from "#kernel/http/credential.ts";
import { defineRoute, reply, type RequestInfo } from "#kernel/http/route.ts";
import type { ToolServerConnection, ToolServers } from "#plugins/tool-servers/service.ts";
import { describeClient } from "../oauth/sign-in.ts";
import type { SignIns, SignInTarget } from "../oauth/sign-ins.ts";
import { usesOAuth } from "../targets.ts";
import { findServer } from "./find-server.ts";

export interface SignInRoutesParts {
  readonly servers: Pick<ToolServers, "readable">;
  readonly signIns: SignIns;
  toTarget(server: ToolServerConnection, userId: string): SignInTarget;
  /** WEBUI_URL without a slash at its end; "" when it is not set. */
  publicUrl(): string;
  name(): string;
  signedIn(caller: Principal, serverId: string): void;
}

const Client = z.object({ client_id: z.string().startsWith("mcp:").max(200) });
const returnPage = "/settings/connected-accounts";
const cookieSeconds = 20 * 60;

/** A path of this server: an address of another one would make this a way to lead people astray. */
const ReturnPath = z
  .string()
  .max(2000)
  .regex(/^\/(?![/\\])[^\\\s]*$/, "must be a path of this server");

/** The sign-in of people to servers with OAuth (contract §5.1). */
export function signInRoutes(parts: SignInRoutesParts) {
  const { servers, signIns } = parts;
  const baseOf = ({ protocol, host }: RequestInfo) =>
    parts.publicUrl() || `${protocol}://${host ?? "localhost"}`;
  const addressOf = (request: RequestInfo, clientId: string, end: string) =>
    `${baseOf(request)}/oauth/clients/${clientId}/${end}`;
  const find = async (caller: Principal, clientId: string) => {
    const server = await findServer(servers, caller, clientId.slice("mcp:".length));
    if (!usesOAuth(server)) {
      throw new AppError("invalid", `"${server.name}" needs no sign-in.`);
    }
    return parts.toTarget(server, caller.userId);
  };
  return [
    defineRoute(
      {
        method: "GET",
        path: "/oauth/clients/:client_id/authorize",
        summary: "Sign in to an MCP server: leads to its authorization server",
        access: "user",
        params: Client,
        query: z.object({ return: ReturnPath.optional() }),
        produces: "text/html",
        fails: [400, 404, 502, 504],
      },
      async ({ caller, params: { client_id: clientId }, query, request }) => {
        const target = await find(caller, clientId);
        const { address, state, browser } = await signIns.start(target, {
          redirectUrl: addressOf(request, clientId, "callback"),
          documentUrl: addressOf(request, clientId, "metadata.json"),
          returnTo: query.return ?? returnPage,
        });
        const cookie = toCookie(state, browser, cookieSeconds, request);
        return reply(undefined, { status: 302, headers: { location: address, "set-cookie": cookie } });
      },
    ),
    defineRoute(
      {
        method: "GET",
        path: "/oauth/clients/:client_id/callback",
        summary: "End of a sign-in: the authorization server sends people here",
        access: "public",
        params: Client,
        query: z.looseObject({
          state: z.string().max(200).optional(),
          code: z.string().max(10_000).optional(),
          error: z.string().max(200).optional(),
          iss: z.string().max(2000).optional(),
        }),
        produces: "text/html",
        fails: [400, 404, 502, 504],
      },
      async ({ caller, params: { client_id: clientId }, query, request }) => {
        const { state = "", code, error, iss } = query;
        const browser = findCookie(request.headers.cookie, cookieName(state));
        if (caller === undefined || state === "" || browser === undefined) {
          throw new AppError("invalid", "This sign-in began in another browser or was not started here.");
        }
        const target = await find(caller, clientId);
        const done = await signIns.finish(target, { state, code, error, issuer: iss, browser });
        if (done.error === undefined) {
          parts.signedIn(caller, clientId.slice("mcp:".length));
        }
        const location = withResult(done.returnTo, done.error === undefined ? "done" : "refused");
        const headers = { location, "set-cookie": toCookie(state, "", 0, request) };
        return reply(undefined, { status: 303, headers });
      },
    ),
    metadataRoute(addressOf, parts.name),
  ] as const;
}

function metadataRoute(
  addressOf: (request: RequestInfo, clientId: string, end: string) => string,
  name: () => string,
) {
  return defineRoute(
    {
      method: "GET",
      path: "/oauth/clients/:client_id/metadata.json",
      summary:
        "What this platform is to authorization servers that read a document instead of registering clients",
      access: "public",
      params: Client,
      returns: z.looseObject({ client_id: z.string() }),
    },
    ({ params: { client_id: clientId }, request }) => ({
      client_id: addressOf(request, clientId, "metadata.json"),
      ...describeClient({ name: name(), redirectUrl: addressOf(request, clientId, "callback") }),
      token_endpoint_auth_method: "none",
    }),
  );
}

/** One cookie for each sign-in on its way, named after its state. */
function cookieName(state: string): string {
  return `oauth_flow_${state.replaceAll(/[^A-Za-z0-9_-]/g, "").slice(0, 16)}`;
}

function toCookie(state: string, value: string, seconds: number, { protocol }: RequestInfo): string {
  const secure = protocol === "https" ? "; Secure" : "";
  return `${cookieName(state)}=${value}; Path=/oauth/clients; Max-Age=${seconds}; HttpOnly; SameSite=Lax${secure}`;
}

function withResult(path: string, result: "done" | "refused"): string {
  const url = new URL(path, "http://local.invalid");
  url.searchParams.set("sign_in", result);
  return url.pathname + url.search + url.hash;
}
