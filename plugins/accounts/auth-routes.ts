import { z } from "zod";
import { type AnyRoute, defineRoute, type HandlerInput, reply, type RequestInfo } from "#kernel/http/route.ts";
import { type Credential, findCredential } from "#kernel/http/credential.ts";
import type { ApiKeys } from "./api-keys.ts";
import {
  AddedAccount,
  AddForm,
  OwnAccount as OwnAccountShape,
  PasswordForm,
  Profile,
  ProfileForm,
  SessionObject,
  SignInForm,
  SignUpForm,
  TimezoneForm,
} from "./auth-schema.ts";
import type { AccountsConfig } from "./config.ts";
import { toClearedCookies, toSessionCookie } from "./cookies.ts";
import type { OwnAccount } from "./own-account.ts";
import { type StartedSession, toSessionObject } from "./sessions.ts";
import type { SignUp } from "./sign-up.ts";
import { profileImagePath, toStatus } from "./user-records.ts";
import type { UserRow } from "./users-store.ts";

/** What the routes below /auths call. */
export interface AuthRouteDeps {
  readonly config: AccountsConfig;
  /** CUSTOM_API_KEY_HEADER, lower-case. */
  keyHeader(): string;
  signIn(form: z.output<typeof SignInForm>, address: string): Promise<StartedSession>;
  readonly signUp: SignUp;
  readonly own: OwnAccount;
  readonly apiKeys: ApiKeys;
  /** Ends one session on every replica. */
  signOut(session: { id: string; expiresAt: number | null }, userId: string): Promise<void>;
}

const Key = z.object({ api_key: z.string() });
const KeyView = Key.extend({ created_at: z.number() });
const SignedOut = z.object({ status: z.literal(true), redirect_url: z.string().optional() });
const Contact = z.object({ name: z.string().nullable(), email: z.string().nullable() });

/** Signing up, in and out, the own account and its key: `/api/v1/auths` (contract 1.2). */
export function authRoutes(deps: AuthRouteDeps): readonly AnyRoute[] {
  return [...sessionRoutes(deps), ...accountRoutes(deps), ...keyRoutes(deps.apiKeys)];
}

function sessionRoutes(deps: AuthRouteDeps): AnyRoute[] {
  const { config, signIn, signUp, own } = deps;
  const withCookie = ({ signed, answer }: StartedSession, request: RequestInfo) =>
    reply(answer, { headers: { "set-cookie": toSessionCookie(signed.token, signed.expiresAt, { config, ...request }) } });
  const signOut = async ({ caller, request }: HandlerInput<undefined, undefined, undefined, "public", false>) => {
    if (caller?.session) {
      await deps.signOut(caller.session, caller.userId);
    }
    const redirect = config.signOutRedirect === "" ? {} : { redirect_url: config.signOutRedirect };
    return reply({ status: true, ...redirect }, { headers: { "set-cookie": toClearedCookies({ config, ...request }) } });
  };
  return [
    defineRoute(
      { method: "GET", path: "/auths", summary: "Read the own session", access: "account", returns: OwnAccountShape },
      async ({ caller, request }) => {
        const user = await own.require(caller);
        const token = requireCredential(request, deps).value;
        const expiresAt = caller.session?.expiresAt ?? null;
        const answer = { ...toSessionObject(user, { token, expiresAt }, caller.permissions), ...toPerson(user), ...toStatus(user) };
        const isSession = caller.session !== null;
        return isSession ? withCookie({ signed: { token, expiresAt, jti: "" }, answer }, request) : answer;
      },
    ),
    defineRoute(
      { method: "POST", path: "/auths/signin", summary: "Sign in", access: "public", body: SignInForm, returns: SessionObject, fails: [400, 403, 429] },
      async ({ body, request }) => withCookie(await signIn(body, request.address), request),
    ),
    defineRoute(
      { method: "POST", path: "/auths/signup", summary: "Create an account", access: "public", body: SignUpForm, returns: SessionObject, fails: [400, 403, 409] },
      async ({ body, request }) => withCookie(await signUp.signUp(body), request),
    ),
    defineRoute({ method: "POST", path: "/auths/signout", summary: "Sign out", access: "public", returns: SignedOut }, signOut),
    // Older clients sign out with GET.
    defineRoute({ method: "GET", path: "/auths/signout", summary: "Sign out", access: "public", returns: SignedOut, hidden: true }, signOut),
    defineRoute(
      { method: "POST", path: "/auths/update/password", summary: "Change the own password", access: "account", body: PasswordForm, returns: z.literal(true), fails: [400, 429] },
      async ({ caller, body, request }) => {
        const { signed } = await own.updatePassword(caller, body);
        // Every session has just ended; the browser that asked goes on with a new one.
        const cookie = toSessionCookie(signed.token, signed.expiresAt, { config, ...request });
        return reply(true, caller.session === null ? {} : { headers: { "set-cookie": cookie } });
      },
    ),
  ];
}

function accountRoutes({ own, signUp }: AuthRouteDeps): AnyRoute[] {
  return [
    defineRoute(
      { method: "POST", path: "/auths/update/profile", summary: "Change the own profile", access: "user", body: ProfileForm, returns: Profile, fails: [400] },
      async ({ caller, body }) => {
        const user = await own.updateProfile(caller, body);
        const { id, name, email, role } = user;
        return { id, name, email, role, profile_image_url: profileImagePath(id), ...toPerson(user) };
      },
    ),
    defineRoute(
      { method: "POST", path: "/auths/update/timezone", summary: "Set the own time zone", access: "account", body: TimezoneForm, returns: z.object({ status: z.literal(true) }), fails: [400] },
      async ({ caller, body }) => {
        await own.updateTimezone(caller, body.timezone);
        return { status: true };
      },
    ),
    defineRoute(
      { method: "POST", path: "/auths/add", summary: "Create an account for somebody", access: "admin", body: AddForm, returns: AddedAccount, fails: [400, 409] },
      async ({ body }) => {
        const { answer } = await signUp.add(body);
        const { expires_at: _expires, permissions: _permissions, ...account } = answer;
        return account;
      },
    ),
    defineRoute(
      { method: "GET", path: "/auths/admin/details", summary: "Whom to ask for activation", access: "account", returns: Contact, fails: [400] },
      () => own.contactAdmin(),
    ),
  ];
}

function keyRoutes(keys: ApiKeys): AnyRoute[] {
  const path = "/auths/api_key";
  return [
    defineRoute({ method: "POST", path, summary: "Make a new API key", access: "account", returns: Key }, ({ caller }) => keys.create(caller)),
    defineRoute({ method: "GET", path, summary: "Recognise the API key", access: "account", returns: KeyView, fails: [404] }, ({ caller }) =>
      keys.find(caller),
    ),
    defineRoute({ method: "DELETE", path, summary: "Delete the API key", access: "account", returns: z.literal(true) }, ({ caller }) =>
      keys.remove(caller),
    ),
  ];
}

function toPerson({ bio, gender, date_of_birth }: UserRow) {
  return { bio, gender, date_of_birth };
}

function requireCredential(request: RequestInfo, { keyHeader }: AuthRouteDeps): Credential {
  const credential = findCredential(request.headers, { keyHeader: keyHeader() });
  if (credential === undefined) {
    throw new Error("a route for accounts was called without a credential");
  }
  return credential;
}
