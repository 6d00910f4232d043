import { z } from "zod";
import { defineRoute } from "#kernel/http/route.ts";
import { IdParams } from "../users/user-schema.ts";
import type { LiveSessions } from "./live-sessions.ts";

const Session = z.object({
  id: z.string(),
  method: z.string(),
  address: z.string().nullable().describe("Where the sign-in came from"),
  client: z.string().nullable().describe("User-Agent header of the sign-in"),
  created_at: z.number().int(),
  last_used_at: z.number().int().describe("Exact to a minute"),
  expires_at: z.number().int().nullable(),
  is_current: z.boolean().describe("The session that asks"),
});
const Sessions = z.array(Session);
const SessionParams = IdParams.extend({ session_id: z.string().min(1).max(200) });
const Done = z.literal(true);

/** The live sessions of one's own account and, for administrators, of every account. */
export function sessionListRoutes(sessions: LiveSessions) {
  return [...ownRoutes(sessions), ...adminRoutes(sessions)];
}

function ownRoutes(sessions: LiveSessions) {
  return [
    defineRoute(
      {
        method: "GET",
        path: "/auths/sessions",
        summary: "List the own live sessions, the last used first",
        access: "user",
        returns: Sessions,
      },
      ({ caller }) => sessions.list(caller, caller.userId),
    ),
    defineRoute(
      {
        method: "DELETE",
        path: "/auths/sessions",
        summary: "End all own sessions but the one that asks",
        access: "user",
        returns: Done,
      },
      async ({ caller }) => {
        await sessions.revokeAll(caller, caller.userId);
        return true as const;
      },
    ),
    defineRoute(
      {
        method: "DELETE",
        path: "/auths/sessions/:id",
        summary: "End one of the own sessions",
        access: "user",
        params: IdParams,
        returns: Done,
        fails: [404],
      },
      async ({ caller, params }) => {
        await sessions.revoke(caller, caller.userId, params.id);
        return true as const;
      },
    ),
  ];
}

function adminRoutes(sessions: LiveSessions) {
  return [
    defineRoute(
      {
        method: "GET",
        path: "/users/:id/sessions",
        summary: "List the live sessions of an account, the last used first",
        access: "admin",
        params: IdParams,
        returns: Sessions,
        fails: [404],
      },
      ({ caller, params }) => sessions.list(caller, params.id),
    ),
    defineRoute(
      {
        method: "DELETE",
        path: "/users/:id/sessions",
        summary: "End all sessions of an account; of the own one all but the one that asks",
        access: "admin",
        params: IdParams,
        returns: Done,
        fails: [403, 404],
      },
      async ({ caller, params }) => {
        await sessions.revokeAll(caller, params.id);
        return true as const;
      },
    ),
    defineRoute(
      {
        method: "DELETE",
        path: "/users/:id/sessions/:session_id",
        summary: "End one session of an account",
        access: "admin",
        params: SessionParams,
        returns: Done,
        fails: [403, 404],
      },
      async ({ caller, params }) => {
        await sessions.revoke(caller, params.id, params.session_id);
        return true as const;
      },
    ),
  ];
}
