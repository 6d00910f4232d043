import { z } from "zod";
import type { Principal } from "#kernel/access/principal.ts";
import { AppError } from "#kernel/errors.ts";
import { defineRoute } from "#kernel/http/route.ts";
import type { ConnectedAccounts } from "../oauth/accounts.ts";

export interface SessionRoutesParts {
  readonly accounts: ConnectedAccounts;
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
export function sessionRoutes({ accounts, disconnect }: SessionRoutesParts) {
  return [
    defineRoute(
      {
        method: "GET",
        path: "/auths/oauth/sessions",
        summary: "List the servers that the caller can sign in to, and those signed in to",
        access: "user",
        returns: z.array(Account),
      },
      ({ caller }) => accounts.list(caller),
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
      ({ params }) => accounts.sessionsOf(params.id),
    ),
  ] as const;
}
