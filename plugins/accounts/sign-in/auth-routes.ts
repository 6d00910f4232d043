import { z } from "zod";
import { defineRoute, reply } from "#kernel/http/route.ts";
import type { ApiKeys } from "../api-keys/api-keys.ts";
import { AddedAccount, AddForm, PasswordForm, Profile, ProfileForm, TimezoneForm } from "./auth-schema.ts";
import { invitationRoutes } from "./invitation-routes.ts";
import type { Invitations } from "./invitations.ts";
import { sessionHeaders, type SessionRouteParts, sessionRoutes } from "./session-routes.ts";
import { profileImagePath } from "../users/user-records.ts";

/** Dependencies of the routes below /auths. */
export interface AuthRouteParts extends SessionRouteParts {
  readonly apiKeys: ApiKeys;
  readonly invitations: Invitations;
}

const Key = z.object({ api_key: z.string() });
const KeyView = Key.extend({ created_at: z.number() });
const Contact = z.object({ name: z.string().nullable(), email: z.string().nullable() });

/** Sessions, the own account and its key: `/api/v1/auths` (contract 1.2). */
export function authRoutes(parts: AuthRouteParts) {
  return [
    ...sessionRoutes(parts),
    ...profileRoutes(parts),
    ...adminRoutes(parts),
    ...keyRoutes(parts.apiKeys),
    ...invitationRoutes(parts),
  ];
}

function profileRoutes({ own, config }: AuthRouteParts) {
  return [
    defineRoute(
      {
        method: "POST",
        path: "/auths/update/password",
        summary: "Change the own password",
        access: "account",
        body: PasswordForm,
        returns: z.literal(true),
        fails: [400, 429],
      },
      async ({ caller, body, request }) => {
        const { signed } = await own.updatePassword(caller, body);
        // Every session has just ended; the browser that asked goes on with a new one.
        return reply(true, {
          headers: caller.session === null ? {} : sessionHeaders(signed, { config, request }),
        });
      },
    ),
    defineRoute(
      {
        method: "POST",
        path: "/auths/update/profile",
        summary: "Change the own profile",
        access: "user",
        body: ProfileForm,
        returns: Profile,
        fails: [400],
      },
      async ({ caller, body }) => {
        const { id, name, email, role, bio, gender, date_of_birth } = await own.updateProfile(caller, body);
        return { id, name, email, role, profile_image_url: profileImagePath(id), bio, gender, date_of_birth };
      },
    ),
    defineRoute(
      {
        method: "POST",
        path: "/auths/update/timezone",
        summary: "Set the own time zone",
        access: "account",
        body: TimezoneForm,
        returns: z.object({ status: z.literal(true) }),
        fails: [400],
      },
      async ({ caller, body }) => {
        await own.updateTimezone(caller, body.timezone);
        return { status: true };
      },
    ),
  ];
}

function adminRoutes({ own, signUp }: AuthRouteParts) {
  return [
    defineRoute(
      {
        method: "POST",
        path: "/auths/add",
        summary: "Create an account for somebody",
        access: "admin",
        body: AddForm,
        returns: AddedAccount,
        fails: [400, 409],
      },
      async ({ body, caller }) => {
        const { id, email, name, role } = await signUp.add(body, caller.userId);
        // The specified field stays; the session of a new person begins in their own browser.
        return {
          token: "",
          token_type: "Bearer",
          id,
          email,
          name,
          role,
          profile_image_url: profileImagePath(id),
        } as const;
      },
    ),
    defineRoute(
      {
        method: "GET",
        path: "/auths/admin/details",
        summary: "Whom to ask for activation",
        access: "account",
        returns: Contact,
        fails: [400],
      },
      () => own.contactAdmin(),
    ),
  ];
}

function keyRoutes(keys: ApiKeys) {
  const facts = { path: "/auths/api_key", access: "user" } as const;
  return [
    defineRoute({ method: "POST", ...facts, summary: "Make a new API key", returns: Key }, ({ caller }) =>
      keys.create(caller),
    ),
    defineRoute(
      { method: "GET", ...facts, summary: "Recognise the API key", returns: KeyView, fails: [404] },
      ({ caller }) => keys.find(caller),
    ),
    defineRoute(
      { method: "DELETE", ...facts, summary: "Delete the API key", returns: z.literal(true) },
      ({ caller }) => keys.remove(caller),
    ),
  ];
}
