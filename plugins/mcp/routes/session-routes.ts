import { z } from "zod";
import type { Principal } from "#kernel/access/principal.ts";
import { AppError } from "#kernel/errors.ts";
import { defineRoute } from "#kernel/http/route.ts";
import type { ToolServers } from "#plugins/tool-servers/service.ts";
import type { DatabaseSessions, ListedSession } from "../oauth/session-store.ts";
import { toAuthorizePath, toProvider, usesOAuth } from "../targets.ts";

export interface SessionRoutesParts {
  readonly servers: Pick<ToolServers, "readable">;
  readonly sessions: DatabaseSessions;
  /** Takes tokens back and removes them; false when there were none. */
  disconnect(caller: Principal, provider: string): Promise<boolean>;
}

const Session = z
  .object({
    id: z.string(),
    provider: z.string(),
    user_id: z.string(),
    expires_at: z.number().nullable(),
    created_at: z.number(),
    updated_at: z.number(),
    needs_sign_in: z.boolean(),
  })
  .meta({ id: "OAuthSession" });

const Account = z
  .object({
    /** `mcp:<server id>`. */
    provider: z.string(),
    name: z.string(),
    description: z.string(),
    host: z.string(),
    /** `needs_sign_in`: the server asked for more, or the sign-in was for its former address. */
    state: z.enum(["connected", "needs_sign_in", "not_connected", "unavailable"]),
    since: z.number().nullable(),
    authorize_url: z.string().nullable(),
  })
  .meta({ id: "ConnectedAccount" });

/** People's sessions at servers they signed in to (contract §1.2, §1.3). */
export function sessionRoutes({ servers, sessions, disconnect }: SessionRoutesParts) {
  return [
    defineRoute(
      {
        method: "GET",
        path: "/auths/oauth/sessions",
        summary: "List the servers that the caller can sign in to, and those signed in to",
        access: "user",
        returns: z.array(Account),
      },
      async ({ caller }) => {
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
        return [...accounts, ...gone.map(toGone)];
      },
    ),
    defineRoute(
      {
        method: "DELETE",
        path: "/auths/oauth/sessions/:provider",
        summary: "Disconnect from a server: its tokens are taken back and removed",
        access: "user",
        params: z.object({ provider: z.string().min(1).max(200) }),
        returns: z.literal(true),
        fails: [404],
      },
      async ({ caller, params }) => {
        if (!(await disconnect(caller, params.provider))) {
          throw new AppError("not_found", "You are not signed in there.");
        }
        return true as const;
      },
    ),
    defineRoute(
      {
        method: "GET",
        path: "/users/:id/oauth/sessions",
        summary: "List the servers that a person signed in to",
        access: "admin",
        params: z.object({ id: z.string().min(1).max(200) }),
        returns: z.array(Session),
      },
      ({ params }) => sessions.list(params.id),
    ),
  ] as const;
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
