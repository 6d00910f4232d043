import { z } from "zod";
import { defineRoute } from "#kernel/http/route.ts";
import { InvitationForm, InvitationToken, SignedIn } from "./auth-schema.ts";
import type { AccountsConfig } from "../config.ts";
import type { Invitations } from "./invitations.ts";
import { answerSignIn } from "./session-routes.ts";

const Invited = z.object({ name: z.string(), email: z.string() });

// The forms are small, and these routes take them from anybody.
const formBytes = 16 * 1024;

/** The routes that people with a link call: `/api/v1/auths/invitation`. */
export function invitationRoutes({
  config,
  invitations,
}: {
  readonly config: AccountsConfig;
  readonly invitations: Invitations;
}) {
  const facts = { method: "POST", access: "public", maxBody: formBytes } as const;
  return [
    defineRoute(
      {
        ...facts,
        path: "/auths/invitation/find",
        summary: "Tell whose invitation it is",
        body: InvitationToken,
        returns: Invited,
        fails: [403, 404, 413, 429],
      },
      ({ body, request }) => invitations.find(body.token, request.address),
    ),
    defineRoute(
      {
        ...facts,
        path: "/auths/invitation",
        summary: "Choose a password by an invitation, and sign in",
        body: InvitationForm,
        returns: SignedIn,
        fails: [400, 403, 404, 413, 429],
      },
      async ({ body, request }) =>
        answerSignIn(await invitations.accept(body, request.address), { config, request }),
    ),
  ];
}
