import { z } from "zod";
import type { Principal } from "#kernel/access/principal.ts";
import { findCookie, findCredential } from "#kernel/http/credential.ts";
import { defineRoute, type Reply, reply, type RequestInfo } from "#kernel/http/route.ts";
import { OwnAccount as OwnAccountShape, SignedIn, SignInForm, SignUpForm } from "./auth-schema.ts";
import type { AccountsConfig } from "../config.ts";
import { challengeCookie } from "../second-factor.ts";
import {
  ownSessionCookie,
  toClearedCookies,
  toOwnSessionCookie,
  toSessionCookie,
  toStepCookie,
} from "../sessions/cookies.ts";
import type { OwnAccount } from "./own-account.ts";
import type { ProfileImageRules } from "../users/profile-image.ts";
import type { SignedSession } from "../sessions/session.ts";
import { type SignInResult, toSessionObject } from "../sessions/sessions.ts";
import type { SignOutStep } from "../service.ts";
import type { SignUp } from "./sign-up.ts";
import { readTrustedIdentity, trustsHeaders, type TrustedIdentity } from "./trusted-header.ts";
import { toStatus } from "../users/user-records.ts";

/** Dependencies of the routes around a session. */
export interface SessionRouteParts {
  readonly config: AccountsConfig;
  readonly images: Pick<ProfileImageRules, "maxLength">;
  readonly signUp: SignUp;
  readonly own: OwnAccount;
  signIn(form: SignInForm, address: string): Promise<SignInResult>;
  /** Signs in the person that a trusted proxy names. */
  signInTrusted(identity: TrustedIdentity): Promise<SignInResult>;
  /** Ends one session on every replica. */
  signOut(session: { id: string; expiresAt: number | null }, userId: string): Promise<void>;
  /** Ends the look of an administrator with the account's eyes. */
  endView(caller: Principal): Promise<void>;
  /** Where the browser goes to end the session at the provider that began it. */
  signOutAddress: SignOutStep;
}

const SignedOut = z.object({ status: z.literal(true), redirect_url: z.string().optional() });

/** Signing up, in and out, and reading the own session: `/api/v1/auths` (contract 1.2). */
export function sessionRoutes(parts: SessionRouteParts) {
  return [...startRoutes(parts), ...endRoutes(parts), ownSessionRoute(parts)];
}

/** Behind a proxy that signs people in the body is not read; the types stay those of the form. */
const unread = undefined as unknown as typeof SignInForm;

// Sign-in forms are small, and these routes take them from anybody.
const formBytes = 16 * 1024;

function startRoutes({ config, images, signIn, signInTrusted, signUp }: SessionRouteParts) {
  const usesTrustedHeaders = trustsHeaders(config);
  const maxImage = images.maxLength();
  const answer = (result: SignInResult, request: RequestInfo) => answerSignIn(result, { config, request });
  return [
    defineRoute(
      {
        method: "POST",
        path: "/auths/signin",
        summary: "Sign in",
        access: "public",
        body: usesTrustedHeaders ? unread : SignInForm,
        maxBody: formBytes,
        returns: SignedIn,
        fails: [400, 403, 413, 429],
      },
      async ({ body, request }) => {
        const session = usesTrustedHeaders
          ? signInTrusted(readTrustedIdentity(config, request.isProxied ? request.headers : undefined))
          : signIn(body, request.address);
        return answer(await session, request);
      },
    ),
    defineRoute(
      {
        method: "POST",
        path: "/auths/signup",
        summary: "Create an account",
        access: "public",
        body: SignUpForm,
        ...(maxImage === undefined ? {} : { maxBody: formBytes + maxImage }),
        returns: SignedIn,
        fails: [400, 403, 409, 413, 429],
      },
      async ({ body, request }) => answer(await signUp.signUp(body, request.address), request),
    ),
  ];
}

function endRoutes({ config, signOut, endView, signOutAddress }: SessionRouteParts) {
  const end = async ({ caller, request }: { caller: Principal | undefined; request: RequestInfo }) => {
    // Public, so that a browser gets rid of the cookies of a session that has ended already.
    if (caller?.viewer) {
      await endView(caller);
    } else if (caller?.session) {
      await signOut(caller.session, caller.userId);
    }
    const address = (await signOutAddress(request, caller?.userId)) ?? config.signOutRedirect;
    const redirect = address === "" ? {} : { redirect_url: address };
    const options = { config, protocol: request.protocol };
    const isView = findCookie(request.headers.cookie, ownSessionCookie) !== undefined;
    const cookies = [...toClearedCookies(options), ...(isView ? [toOwnSessionCookie("", options)] : [])];
    return reply({ status: true, ...redirect }, { headers: { "set-cookie": cookies } });
  };
  const facts = {
    path: "/auths/signout",
    summary: "Sign out",
    access: "public",
    returns: SignedOut,
  } as const;
  // Older clients sign out with GET; a link of another site must not.
  return [
    defineRoute({ method: "POST", ...facts }, end),
    defineRoute({ method: "GET", ...facts, hidden: true, changes: true }, end),
  ];
}

function ownSessionRoute({ config, own }: SessionRouteParts) {
  return defineRoute(
    {
      method: "GET",
      path: "/auths",
      summary: "Read the own session",
      access: "account",
      returns: OwnAccountShape,
    },
    async ({ caller, request }) => {
      const user = await own.require(caller);
      const { bio, gender, date_of_birth, timezone } = user;
      const token =
        findCredential(request.headers, { keyHeader: config.keyHeader.toLowerCase() })?.value ?? "";
      const expiresAt = caller.session?.expiresAt ?? null;
      const session = toSessionObject(user, { token, expiresAt }, caller.permissions);
      const { viewer } = caller;
      const status = toStatus(user);
      const answer = {
        ...session,
        bio,
        gender,
        date_of_birth,
        timezone,
        ...status,
        ...(viewer && { viewer }),
      };
      // A key is no session: a browser must not be left with it.
      const headers =
        caller.session === null ? {} : sessionHeaders({ token, expiresAt }, { config, request });
      return reply(answer, { headers });
    },
  );
}

/**
 * Answers every way to sign in, in this one place: with the session and its cookie, or with what is still asked for. A
 * cookie keeps that, too, so that it outlives the redirects of an identity provider and a reload.
 */
export function answerSignIn(
  result: SignInResult,
  { config, request }: { config: AccountsConfig; request: RequestInfo },
): Reply {
  if (!("step" in result)) {
    return reply(result.answer, { headers: sessionHeaders(result.signed, { config, request }) });
  }
  if (result.step.next_step === "password") {
    return reply(result.step);
  }
  const kept = "challenge_token" in result.step ? result.step.challenge_token : result.step.next_step;
  const cookie = toStepCookie(kept, { config, protocol: request.protocol });
  return reply(result.step, { headers: { "set-cookie": cookie } });
}

/** The headers that hand a session to a browser. */
export function sessionHeaders(
  { token, expiresAt }: Pick<SignedSession, "token" | "expiresAt">,
  { config, request }: { config: AccountsConfig; request: RequestInfo },
): Record<string, string | string[]> {
  const options = { config, protocol: request.protocol };
  const session = toSessionCookie(token, expiresAt, options);
  const isWaiting = request.headers.cookie?.includes(`${challengeCookie}=`) === true;
  return { "set-cookie": isWaiting ? [session, toStepCookie("", options)] : session };
}
