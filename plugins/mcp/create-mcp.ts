import type { ConfigRegistry } from "#config/registry.ts";
import type { Principal } from "#kernel/access/principal.ts";
import type { Egress } from "#kernel/egress/egress.ts";
import type { Events } from "#kernel/events.ts";
import type { Logger } from "#kernel/log.ts";
import { createSeal } from "#kernel/seal.ts";
import type { Slot } from "#kernel/service.ts";
import type { Deployment, Notices } from "#kernel/services.ts";
import type { Hub } from "#kernel/sockets/hub.ts";
import type { ProviderTokens } from "#plugins/oauth/service.ts";
import type { ToolServerConnection, ToolServers } from "#plugins/tool-servers/service.ts";
import { createConnections } from "./client/connections.ts";
import { type McpConfig, toCallTimeout } from "./config.ts";
import { createMcpKind } from "./kind.ts";
import { createConnectedAccounts } from "./oauth/accounts.ts";
import { createClientStore, createFlowStore } from "./oauth/flow-store.ts";
import { revoke, type TokenSet } from "./oauth/sign-in.ts";
import { createSessionStore } from "./oauth/session-store.ts";
import { createSignIns } from "./oauth/sign-ins.ts";
import { createServerSessions } from "./sessions.ts";
import { toSignInTarget } from "./targets.ts";
import type { OtherAccounts } from "./service.ts";
import type { McpDatabase } from "./tables.ts";

export interface McpContext {
  readonly config: McpConfig;
  readonly db: McpDatabase;
  readonly log: Logger;
  readonly use: {
    readonly configuration: ConfigRegistry;
    readonly deployment: Deployment;
    readonly egress: Egress;
    readonly events: Events;
    readonly hub: Hub | undefined;
    readonly notices: Notices;
    readonly otherAccounts: Slot<OtherAccounts>;
    readonly providerTokens: ProviderTokens | undefined;
    readonly servers: ToolServers;
  };
}

const idleMs = 5 * 60_000;
const restMs = 20_000;
const channel = "mcp.closed";

/** Puts the parts together: stores, sign-ins, pooled connections and the kind of tool server. */
export function createMcp({ config, db, log, use }: McpContext) {
  const { egress, servers } = use;
  const sealOf = (key: string | null, purpose: string) =>
    createSeal(key || use.deployment.secretKey, purpose);
  const clientSeal = sealOf(config.clientKey, "oauth-client");
  const sessionSeal = sealOf(config.sessionKey, "oauth-session");
  const sessions = createSessionStore(db, sessionSeal);
  const flows = createFlowStore(db, sessionSeal);
  const clients = createClientStore(db, clientSeal);
  const connections = createConnections({ idleMs, restMs });
  const setting = (name: string) => String(use.configuration.valueOf(name) ?? "");
  const name = () => setting("CUSTOM_NAME") || setting("WEBUI_NAME");
  const resourceMode = () => config.resourceMode;
  const toTarget = (server: Pick<ToolServerConnection, "id" | "url" | "info">, userId: string) =>
    toSignInTarget(server, userId, { egress, seal: clientSeal });
  const open = createServerSessions({
    egress,
    connections,
    sessions,
    clientSeal,
    providerTokens: use.providerTokens,
    version: use.deployment.version,
    initializeTimeoutMs: () => config.initializeTimeout * 1000,
  });
  const closeAll = (prefix: string) => connections.closeAll(prefix);
  const closeEverywhere = async (serverId: string) => {
    await closeAll(`${serverId} `);
    await use.notices.notify(channel, { server: serverId });
  };
  const takeBack = async (serverId: string, userId: string, tokens: TokenSet | undefined) => {
    const info = servers.all().find(({ id, type }) => type === "mcp" && id === serverId)?.info;
    if (tokens !== undefined) {
      const target = toTarget({ id: serverId, url: tokens.url, info: info ?? {} }, userId);
      await revoke(tokens, target.fetchServer).catch((error: unknown) =>
        log.warn({ err: error, server: serverId }, "a token could not be taken back; it ends by itself"),
      );
    }
  };

  return {
    servers,
    accounts: createConnectedAccounts({ servers, sessions, others: use.otherAccounts }),
    signIns: createSignIns({ flows, clients, sessions, name, resourceMode }),
    open,
    toTarget,
    name,
    resourceMode,
    seal: clientSeal,
    publicUrl: () => setting("WEBUI_URL").replace(/(?<!\/)\/+$/, ""),
    kind: createMcpKind({
      open,
      sessions,
      toTarget,
      resourceMode,
      hub: use.hub,
      timeoutMs: () => toCallTimeout(config),
    }),
    signedIn: (_caller: Principal, serverId: string) => void closeEverywhere(serverId),
    async disconnect(caller: Principal, provider: string): Promise<boolean> {
      const removed = await sessions.remove({ userId: caller.userId, provider });
      if (removed === undefined) {
        return await disconnectElsewhere(use, caller, provider);
      }
      const serverId = provider.slice("mcp:".length);
      await takeBack(serverId, caller.userId, removed.tokens);
      await closeEverywhere(serverId);
      announceEnd(use.events, caller, provider);
      return true;
    },
    sweep: () => flows.sweep(),
    async start() {
      servers.changed(() => void closeAll(""));
      await use.notices.listen(
        channel,
        (payload) => void closeAll(`${String((payload as { server?: string }).server)} `),
        () => void closeAll(""),
      );
    },
    stop: () => closeAll(""),
  };
}

async function disconnectElsewhere(
  { otherAccounts, events }: Pick<McpContext["use"], "otherAccounts" | "events">,
  caller: Principal,
  provider: string,
): Promise<boolean> {
  const ended = await Promise.all(
    otherAccounts.list().map((each) => each.disconnect(caller.userId, provider)),
  );
  if (ended.includes(true)) {
    announceEnd(events, caller, provider);
  }
  return ended.includes(true);
}

function announceEnd(events: Events, { userId: id, name, email, role }: Principal, provider: string): void {
  const subject = { type: "oauth_session", id: provider };
  events.announce("auth.oauth_session.deleted", { actor: { id, name, email, role }, subject });
}
