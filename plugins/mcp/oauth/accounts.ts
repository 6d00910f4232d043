import type { Principal } from "#kernel/access/principal.ts";
import type { Slot } from "#kernel/service.ts";
import type { ToolServers } from "#plugins/tool-servers/service.ts";
import type { OtherAccounts } from "../service.ts";
import { toAuthorizePath, toProvider, usesOAuth } from "../targets.ts";
import type { DatabaseSessions, ListedSession } from "./session-store.ts";

export interface AccountsParts {
  readonly servers: Pick<ToolServers, "readable">;
  readonly sessions: Pick<DatabaseSessions, "list" | "read">;
  readonly others: Pick<Slot<OtherAccounts>, "list">;
}

/** What stands behind the lists of people's sessions at servers (contract §1.2, §1.3). */
export type ConnectedAccounts = ReturnType<typeof createConnectedAccounts>;

/** Creates the lists of servers that people can sign in to, and of those signed in to. */
export function createConnectedAccounts({ servers, sessions, others }: AccountsParts) {
  return {
    async list(caller: Principal) {
      const own = await sessions.list(caller.userId);
      const offered = (await servers.readable(caller)).filter(
        (server) => server.type === "mcp" && usesOAuth(server),
      );
      const accounts = await Promise.all(
        offered.map(async (server) => {
          const provider = toProvider(server.id);
          const session = own.find((each) => each.provider === provider);
          const stored = session && (await sessions.read({ userId: caller.userId, provider }));
          const isValid = stored?.tokens.url === server.url && session?.needs_sign_in === false;
          return {
            provider,
            name: server.name,
            description: server.description,
            host: URL.parse(server.url)?.host ?? "",
            state: toState(session, isValid),
            since: session?.created_at ?? null,
            authorize_url: toAuthorizePath(server.id),
          };
        }),
      );
      const gone = own.filter(({ provider }) => !accounts.some((each) => each.provider === provider));
      const elsewhere = await Promise.all(others.list().map((each) => each.list(caller.userId)));
      return [...elsewhere.flat(), ...accounts, ...gone.map(toGone)];
    },
    async sessionsOf(userId: string): Promise<ListedSession[]> {
      const elsewhere = await Promise.all(others.list().map((each) => each.sessions(userId)));
      const signIns = elsewhere.flat().map((each) => ({ ...each, needs_sign_in: false }));
      return [...signIns, ...(await sessions.list(userId))];
    },
  };
}

function toState(session: ListedSession | undefined, isValid: boolean) {
  if (session === undefined) {
    return "not_connected" as const;
  }
  return isValid ? ("connected" as const) : ("needs_sign_in" as const);
}

/** A session at a server that was removed, or that the person may no longer use: it can be ended all the same. */
function toGone({ provider, created_at: since }: ListedSession) {
  const name = provider.slice(provider.indexOf(":") + 1);
  return {
    provider,
    name,
    description: "",
    host: "",
    state: "unavailable" as const,
    since,
    authorize_url: null,
  };
}
