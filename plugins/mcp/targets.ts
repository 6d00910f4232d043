import type { Egress } from "#kernel/egress/egress.ts";
import type { Seal } from "#kernel/seal.ts";
import { toPlainUrl } from "#kernel/upstream/endpoint.ts";
import type { ToolServerConnection } from "#plugins/tool-servers/service.ts";
import { createServerFetch } from "./client/server-fetch.ts";
import { openRegistration } from "./oauth/registrations.ts";
import type { ClientRegistration } from "./oauth/sign-in.ts";
import type { SignInTarget } from "./oauth/sign-ins.ts";

/** Milliseconds for one exchange with an authorization server. */
const exchangeMs = 15_000;

/** Tells servers that people sign in to. */
export function usesOAuth({ auth_type: auth }: Pick<ToolServerConnection, "auth_type">): boolean {
  return auth === "oauth_2.1" || auth === "oauth_2.1_static";
}

/** Where a person starts the sign-in to a server. */
export function toAuthorizePath(serverId: string): string {
  return `/oauth/clients/mcp:${encodeURIComponent(serverId)}/authorize`;
}

/** `mcp:<id>`, the name of a server's sessions (contract §1.2). */
export function toProvider(serverId: string): string {
  return `mcp:${serverId}`;
}

const textOf = (value: unknown) =>
  typeof value === "string" && value.trim() !== "" ? value.trim() : undefined;

/** A server as people sign in to it; an authorization server may be private only where an administrator named it. */
export function toSignInTarget(
  server: Pick<ToolServerConnection, "id" | "url" | "info">,
  userId: string,
  { egress, seal }: { readonly egress: Pick<Egress, "fetch">; readonly seal: Seal },
): SignInTarget {
  const info = server.info ?? {};
  const authorizationServerUrl = textOf(info["oauth_server_url"]);
  const registration = openRegistration(seal, info["oauth_client_info"]);
  const trustedOrigins = [server.url, authorizationServerUrl].flatMap(
    (url) => URL.parse(url ?? "")?.origin ?? [],
  );
  return {
    userId,
    provider: toProvider(server.id),
    url: server.url,
    fetchServer: createServerFetch({ egress, trustedOrigins, timeoutMs: exchangeMs }),
    authorizationServerUrl,
    scope: textOf(info["oauth_scope"]),
    registration: isFor(server.url, registration) ? registration : undefined,
  };
}

/** A client that was entered for another address is not shown to this one. */
function isFor(url: string, registration: ClientRegistration | undefined): boolean {
  return registration?.url === undefined || toPlainUrl(registration.url) === toPlainUrl(url);
}
