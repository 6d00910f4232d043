import { createHash } from "node:crypto";
import { credentialOf } from "#kernel/access/credentials.ts";
import type { Principal } from "#kernel/access/principal.ts";
import type { Egress } from "#kernel/egress/egress.ts";
import { AppError } from "#kernel/errors.ts";
import type { Seal } from "#kernel/seal.ts";
import { fillHeader } from "#kernel/upstream/header-template.ts";
import { type ProviderTokens, requireTokens } from "#plugins/oauth/service.ts";
import type { ToolServerConnection } from "#plugins/tool-servers/service.ts";
import { connect, type Connection } from "./client/connection.ts";
import type { Connections } from "./client/connections.ts";
import { createServerFetch, type Credential, withCredential } from "./client/server-fetch.ts";
import { createOAuthCredential } from "./oauth/tokens.ts";
import type { SessionStore } from "./oauth/stores.ts";
import { toAuthorizePath, toSignInTarget, usesOAuth } from "./targets.ts";

/** A server as one person uses it; the connection is opened at the first use. */
export interface ServerSession {
  readonly server: ToolServerConnection;
  readonly principal: Principal;
  /** One key for all people that the server cannot tell apart. */
  readonly owner: string;
  use<R>(run: (connection: Connection) => Promise<R>, signal: AbortSignal): Promise<R>;
}

export interface SessionsParts {
  readonly egress: Pick<Egress, "fetch">;
  readonly connections: Connections;
  readonly sessions: SessionStore;
  readonly clientSeal: Seal;
  readonly version: string;
  /** Undefined where nobody signs in through a provider. */
  readonly providerTokens: ProviderTokens | undefined;
  initializeTimeoutMs(): number;
}

/** Where a call stands, for headers that tell it, and how long it has. */
export interface CallPlace {
  readonly chatId?: string | undefined;
  readonly messageId?: string | undefined;
  /** Milliseconds that opening a session may take at least, whatever the setting says. */
  readonly patienceMs?: number;
}

export type OpenSession = (
  server: ToolServerConnection,
  principal: Principal,
  place?: CallPlace,
) => ServerSession;

/**
 * Builds sessions over pooled connections: one for all people where the server cannot tell them apart, else one for
 * each, so that nothing of one person comes to another.
 */
export function createServerSessions(parts: SessionsParts): OpenSession {
  return (server, principal, { patienceMs = 0, ...place } = {}) => {
    const facts = { principal, ...place } as Parameters<typeof fillHeader>[1];
    const headers = Object.fromEntries(
      server.headerTemplates.map(([name, template]) => [name.toLowerCase(), fillHeader(template, facts)]),
    );
    const credential = toCredential(server, principal, parts);
    const owner = [server.id, server.fingerprint, toOwnPart(server, principal)].join(" ");
    const key = `${owner} ${hash(JSON.stringify(headers))}`;
    const trusted = URL.parse(server.url)?.origin;
    const fetchServer = createServerFetch({ egress: parts.egress, trustedOrigins: trusted ? [trusted] : [] });
    const open = () =>
      connect({
        url: server.url,
        fetch: withCredential(fetchServer, credential, headers),
        version: parts.version,
        initializeTimeoutMs: Math.max(parts.initializeTimeoutMs(), patienceMs),
      });
    return {
      server,
      principal,
      owner,
      async use(run, signal) {
        // Asked first: a person who is not signed in hears of it without a request to the server.
        await credential.authorization();
        return await untilAborted(parts.connections.use(key, open, run), signal);
      },
    };
  };
}

/** Stops waiting for what others may still wait for. */
export async function untilAborted<R>(work: Promise<R>, signal: AbortSignal): Promise<R> {
  signal.throwIfAborted();
  const { promise, reject } = Promise.withResolvers<never>();
  const stop = () => reject(signal.reason as Error);
  signal.addEventListener("abort", stop, { once: true });
  try {
    return await Promise.race([work, promise]);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

function toCredential(server: ToolServerConnection, principal: Principal, parts: SessionsParts): Credential {
  if (usesOAuth(server)) {
    const target = toSignInTarget(server, principal.userId, { egress: parts.egress, seal: parts.clientSeal });
    const path = toAuthorizePath(server.id);
    return createOAuthCredential(target, {
      sessions: parts.sessions,
      toSignInText: (reason) =>
        reason === "missing"
          ? `You are not signed in to "${server.name}". Sign in at ${path}`
          : `"${server.name}" needs more of your permission. Sign in again at ${path}`,
    });
  }
  const bearer = (token: string | undefined): Credential => ({
    authorization: async () => (token ? `Bearer ${token}` : undefined),
  });
  switch (server.auth_type) {
    case "bearer":
      return bearer(server.key);
    case "session":
      return bearer(requireOwn(principal));
    case "system_oauth":
      return {
        authorization: async () =>
          `Bearer ${await requireTokens(parts.providerTokens).accessToken(principal)}`,
      };
    default:
      return bearer(undefined);
  }
}

function requireOwn(principal: Principal): string {
  const token = credentialOf(principal);
  if (token === undefined) {
    throw new AppError(
      "unavailable",
      "The server wants the caller's own sign-in, which work in the background lacks.",
    );
  }
  return token;
}

/** The part of a key that parts people where the server tells them apart. */
function toOwnPart(server: ToolServerConnection, principal: Principal): string {
  if (usesOAuth(server) || server.auth_type === "system_oauth") {
    return `user:${principal.userId}`;
  }
  return server.auth_type === "session" ? `session:${hash(credentialOf(principal) ?? "")}` : "all";
}

function hash(text: string): string {
  return createHash("sha256").update(text).digest("base64url").slice(0, 16);
}
