import { z } from "zod";
import { findCookie, findCredential } from "#kernel/http/credential.ts";
import { defineRoute, reply, type RequestInfo } from "#kernel/http/route.ts";
import type { AccountsConfig } from "../config.ts";
import { SessionObject } from "../sign-in/auth-schema.ts";
import { sessionHeaders } from "../sign-in/session-routes.ts";
import { IdParams } from "../users/user-schema.ts";
import { ownSessionCookie, toOwnSessionCookie, toSessionCookie } from "./cookies.ts";
import type { SessionTokens } from "./session.ts";
import type { Views } from "./views.ts";

export interface ViewRouteParts {
  readonly config: AccountsConfig;
  readonly tokens: SessionTokens;
  readonly views: Views;
}

/** Beginning and ending the view of another account. The browser's cookie follows; the own session waits in another. */
export function viewRoutes({ config, tokens, views }: ViewRouteParts) {
  const optionsOf = ({ protocol }: RequestInfo) => ({ config, protocol });
  return [
    defineRoute(
      {
        method: "POST",
        path: "/users/:id/view",
        summary:
          "View the platform with the eyes of an account, for 30 minutes and without changing anything",
        access: "admin",
        params: IdParams,
        returns: SessionObject,
        fails: [403, 404],
      },
      async ({ caller, params, request }) => {
        const { signed, answer } = await views.start(caller, params.id);
        const shown = findCredential(request.headers, { keyHeader: config.keyHeader.toLowerCase() });
        const own = shown?.source === "cookie" ? [toOwnSessionCookie(shown.value, optionsOf(request))] : [];
        const cookies = [sessionHeaders(signed, { config, request })["set-cookie"] ?? [], own].flat();
        // A client that sends its token itself keeps both.
        return reply(answer, own.length === 0 ? {} : { headers: { "set-cookie": cookies } });
      },
    ),
    defineRoute(
      {
        method: "POST",
        path: "/auths/view/end",
        summary: "End the view of another account and go back to the own session",
        // Public, so that the own session comes back when the view has run out.
        access: "public",
        returns: z.object({ status: z.boolean() }),
      },
      async ({ caller, request }) => {
        if (caller !== undefined) {
          await views.end(caller);
        }
        const own = findCookie(request.headers.cookie, ownSessionCookie) ?? "";
        const claims = await tokens.verify(own).catch(() => undefined);
        const isOwn = claims?.typ === "session";
        const session = isOwn ? [toSessionCookie(own, claims.exp ?? null, optionsOf(request))] : [];
        const cookies = [...session, toOwnSessionCookie("", optionsOf(request))];
        return reply({ status: isOwn }, { headers: { "set-cookie": cookies } });
      },
    ),
  ];
}
