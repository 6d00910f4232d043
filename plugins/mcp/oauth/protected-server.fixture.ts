import { createHash, randomUUID } from "node:crypto";
import { InvalidGrantError, InvalidTokenError } from "@modelcontextprotocol/sdk/server/auth/errors.js";
import { requireBearerAuth } from "@modelcontextprotocol/sdk/server/auth/middleware/bearerAuth.js";
import type {
  AuthorizationParams,
  OAuthServerProvider,
} from "@modelcontextprotocol/sdk/server/auth/provider.js";
import { mcpAuthRouter } from "@modelcontextprotocol/sdk/server/auth/router.js";
import { createMcpExpressApp } from "@modelcontextprotocol/sdk/server/express.js";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import type { OAuthClientInformationFull } from "@modelcontextprotocol/sdk/shared/auth.js";
import { type AppRequest, type AppResponse, listen, type TestServer } from "../servers.fixture.ts";

interface Grant {
  readonly clientId: string;
  readonly scopes: string[];
  readonly resource: URL | undefined;
  readonly expiresAt: number;
}

export interface ProtectedServer extends TestServer {
  readonly origin: string;
  /** Seconds that tokens live from now on. */
  lifetime: number;
  /** Refresh tokens are refused while it is true. */
  refusesRefresh: boolean;
  /** Name in the metadata of the resource; its own when undefined. */
  claimedResource: string | undefined;
  /** Parameter `resource` of every authorization and token request. */
  readonly resources: (string | undefined)[];
  readonly counts: { registered: number; refreshed: number; revoked: number };
  /** Ends all access tokens, as a server that restarts would. */
  expireAll(): void;
  /** The person says yes: where the authorization server sends the browser. */
  consent(address: string): Promise<URL>;
}

/** An MCP server and its authorization server, of the SDK's own parts: registration, PKCE, rotating tokens, revocation. */
export async function startProtectedServer(): Promise<ProtectedServer> {
  const app = createMcpExpressApp();
  const { server, port } = await listen(app);
  const origin = `http://127.0.0.1:${port}`;
  const state = {
    lifetime: 3600,
    refusesRefresh: false,
    claimedResource: undefined as string | undefined,
    resources: [] as (string | undefined)[],
    counts: { registered: 0, refreshed: 0, revoked: 0 },
  };
  const access = new Map<string, Grant>();
  const provider = createProvider(state, access);
  app.get("/.well-known/oauth-protected-resource/mcp", (_request: AppRequest, response: AppResponse) => {
    const resource = state.claimedResource ?? `${origin}/mcp`;
    response.json({ resource, authorization_servers: [origin], scopes_supported: ["read"] });
  });
  app.use(mcpAuthRouter({ provider, issuerUrl: new URL(origin), scopesSupported: ["read", "write"] }));
  const resourceMetadataUrl = `${origin}/.well-known/oauth-protected-resource/mcp`;
  app.post(
    "/mcp",
    requireBearerAuth({ verifier: provider, resourceMetadataUrl }),
    // oxlint-disable-next-line oxc/no-async-endpoint-handlers -- Express 5 takes rejections
    async (request: AppRequest, response: AppResponse) => {
      const scopes = (request as { auth?: { scopes: string[] } }).auth?.scopes ?? [];
      if (request.body?.params?.name === "write" && !scopes.includes("write")) {
        const challenge = `Bearer error="insufficient_scope", scope="write", resource_metadata="${resourceMetadataUrl}"`;
        response.status(403).set("www-authenticate", challenge).end();
        return;
      }
      const transport = new StreamableHTTPServerTransport({});
      await makeServer().connect(transport as never);
      await transport.handleRequest(request, response, request.body);
    },
  );
  app.all("/mcp", (_request: AppRequest, response: AppResponse) => void response.status(405).end());
  return Object.assign(state, {
    url: `${origin}/mcp`,
    origin,
    expireAll: () => access.clear(),
    async consent(address: string) {
      const answer = await fetch(address, { redirect: "manual" });
      return new URL(answer.headers.get("location") ?? "http://nowhere.invalid");
    },
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  });
}

function makeServer(): McpServer {
  const server = new McpServer({ name: "vault", version: "1" });
  const text = (value: string) => ({ content: [{ type: "text" as const, text: value }] });
  server.registerTool("read", { annotations: { readOnlyHint: true } }, () => text("secret"));
  server.registerTool("write", {}, () => text("written"));
  return server;
}

function createProvider(
  state: Pick<ProtectedServer, "lifetime" | "refusesRefresh" | "resources" | "counts">,
  access: Map<string, Grant>,
): OAuthServerProvider {
  const clients = new Map<string, OAuthClientInformationFull>();
  const codes = new Map<string, AuthorizationParams & { clientId: string }>();
  const refreshes = new Map<string, Omit<Grant, "expiresAt">>();
  const issue = (grant: Omit<Grant, "expiresAt">) => {
    const [token, refresh] = [randomUUID(), randomUUID()];
    access.set(token, { ...grant, expiresAt: Date.now() / 1000 + state.lifetime });
    refreshes.set(refresh, grant);
    return {
      access_token: token,
      token_type: "Bearer",
      expires_in: state.lifetime,
      refresh_token: refresh,
      scope: grant.scopes.join(" "),
    };
  };
  return {
    clientsStore: {
      getClient: (id) => clients.get(id),
      registerClient(client) {
        state.counts.registered += 1;
        const full = { ...client, client_id: createHash("md5").update(randomUUID()).digest("hex") };
        clients.set(full.client_id, full as OAuthClientInformationFull);
        return full as OAuthClientInformationFull;
      },
    },
    async authorize(client, params, response) {
      state.resources.push(params.resource?.href);
      const code = randomUUID();
      codes.set(code, { ...params, clientId: client.client_id });
      const target = new URL(params.redirectUri);
      target.searchParams.set("code", code);
      target.searchParams.set("state", params.state ?? "");
      response.redirect(target.href);
    },
    challengeForAuthorizationCode: async (_client, code) => codes.get(code)?.codeChallenge ?? "",
    async exchangeAuthorizationCode(client, code, _verifier, _redirect, resource) {
      state.resources.push(resource?.href);
      const asked = codes.get(code);
      codes.delete(code);
      if (asked === undefined || asked.clientId !== client.client_id) {
        throw new InvalidGrantError("unknown code");
      }
      return issue({ clientId: client.client_id, scopes: asked.scopes ?? [], resource });
    },
    async exchangeRefreshToken(_client, refresh) {
      const grant = refreshes.get(refresh);
      // Each counts once: a second use of one means that two refreshed at the same time.
      refreshes.delete(refresh);
      if (grant === undefined || state.refusesRefresh) {
        throw new InvalidGrantError("unknown refresh token");
      }
      state.counts.refreshed += 1;
      return issue(grant);
    },
    async verifyAccessToken(token) {
      const grant = access.get(token);
      if (grant === undefined || grant.expiresAt < Date.now() / 1000) {
        throw new InvalidTokenError("unknown token");
      }
      return { token, ...grant };
    },
    async revokeToken(_client, { token }) {
      state.counts.revoked += 1;
      refreshes.delete(token);
      access.clear();
    },
  };
}
