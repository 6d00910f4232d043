import { z } from "zod";
import type { Principal } from "#kernel/access/principal.ts";
import { defineRoute, type RequestInfo } from "#kernel/http/route.ts";
import type { Seal } from "#kernel/seal.ts";
import { requireNoProblem } from "#kernel/upstream/endpoint-form.ts";
import { findAddressProblem } from "#kernel/upstream/endpoint.ts";
import type { Audit } from "#plugins/audit/service.ts";
import { discover, type ResourceMode } from "../oauth/discovery.ts";
import { sealRegistration } from "../oauth/registrations.ts";
import { type ClientRegistration, register, toScope } from "../oauth/sign-in.ts";
import type { SignInTarget } from "../oauth/sign-ins.ts";

export interface RegisterRouteParts {
  readonly seal: Seal;
  readonly audit: Audit | undefined;
  toTarget(server: { id: string; url: string; info: Record<string, unknown> }, userId: string): SignInTarget;
  resourceMode(): ResourceMode;
  publicUrl(): string;
  name(): string;
}

const text = (max: number) => z.string().trim().max(max).nullish();
const Body = z.looseObject({
  url: z.string().trim().min(1).max(2048),
  /** Id of the server, or of a client that is registered already: what the authorization server calls this platform. */
  client_id: z.string().trim().min(1).max(500),
  client_name: text(200),
  client_secret: text(2000),
  /** `oauth_2.1_static`: the client is registered already, with a secret or without one. */
  auth_type: z.enum(["oauth_2.1", "oauth_2.1_static"]).nullish(),
  oauth_server_url: text(2048),
  oauth_scope: text(2000),
});
type Body = z.output<typeof Body>;

/** Registration of the platform with a server's authorization server; the connection keeps the answer (contract §5.1). */
export function registerRoute(parts: RegisterRouteParts) {
  return defineRoute(
    {
      method: "POST",
      path: "/configs/oauth/clients/register",
      summary:
        "Register with the authorization server of an MCP server, or encrypt a client that is registered already",
      access: "admin",
      query: z.object({ type: z.literal("mcp").default("mcp") }),
      body: Body,
      returns: z.object({ status: z.literal(true), oauth_client_info: z.string() }),
      fails: [400, 502, 504],
    },
    async ({ body, caller, request }) => {
      requireNoProblem(problemOf("url", body.url), "This server");
      requireNoProblem(problemOf("oauth_server_url", body.oauth_server_url), "This server");
      const isStatic = Boolean(body.client_secret) || body.auth_type === "oauth_2.1_static";
      const registration = isStatic ? toStatic(body) : await toDynamic(body, caller, request, parts);
      await parts.audit?.record({
        action: "config.oauth_client.registered",
        object: { type: "setting", id: "TOOL_SERVER_CONNECTIONS", name: body.url },
        after: { url: body.url, client_id: registration.information.client_id, dynamic: !isStatic },
      });
      return { status: true as const, oauth_client_info: sealRegistration(parts.seal, registration) };
    },
  );
}

function problemOf(field: string, address: string | null | undefined): string | undefined {
  const problem = address ? findAddressProblem(address) : undefined;
  return problem && `its ${field} ${problem}`;
}

/** A client that an administrator entered; its secret is for the server that it was entered for. */
function toStatic({ url, client_id, client_secret }: Body): ClientRegistration {
  // Without a secret it is a public client, which proves itself by PKCE alone.
  return { issuer: undefined, url, information: { client_id, ...(client_secret && { client_secret }) } };
}

async function toDynamic(
  body: Body,
  { userId }: Principal,
  { protocol, host }: RequestInfo,
  parts: RegisterRouteParts,
): Promise<ClientRegistration> {
  const info = { oauth_server_url: body.oauth_server_url, oauth_scope: body.oauth_scope };
  const target = parts.toTarget({ id: body.client_id, url: body.url, info }, userId);
  const { url, authorizationServerUrl } = target;
  const asked = { url, authorizationServerUrl, resourceMode: parts.resourceMode(), challenge: undefined };
  const discovered = await discover(asked, target.fetchServer);
  const base = `${parts.publicUrl() || `${protocol}://${host ?? "localhost"}`}/oauth/clients/${target.provider}`;
  const input = {
    name: body.client_name || parts.name(),
    redirectUrl: `${base}/callback`,
    documentUrl: `${base}/metadata.json`,
    scope: toScope(discovered, { configured: target.scope, granted: undefined }),
  };
  return await register(discovered, input, target.fetchServer);
}
