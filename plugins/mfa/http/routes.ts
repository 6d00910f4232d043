import { AppError } from "#kernel/errors.ts";
import { defineRoute, type RequestInfo } from "#kernel/http/route.ts";
import { NextStepShape as NextStep, SessionObject } from "#plugins/accounts/service.ts";
import { z } from "zod";
import type { MfaDeps } from "../deps.ts";
import { confirmEnrolment, enrolAtSignIn, enrolFromSettings } from "../enrolment.ts";
import { requireFresh } from "../manage.ts";
import { signInWithPasskey, startPasskey } from "../passkeys/authenticate.ts";
import { addPasskey, startRegistration } from "../passkeys/register.ts";
import { findWaiting, recover, requireOn, verifyCode } from "../sign-in.ts";
import {
  CodeForm,
  Enrolment,
  Options,
  PasskeyForm,
  RecoverForm,
  TokenForm,
  toMade,
  toUsed,
  UseForm,
  VerifyForm,
} from "./schema.ts";

// These routes are open to anybody; what browsers make of a passkey stays far below.
const formBytes = 64 * 1024;
const Enrolled = SessionObject.extend({ recovery_codes: z.array(z.string()).nullable() });
const Waiting = z.union([
  z.object({ next_step: z.literal("pending") }),
  z.object({
    next_step: z.enum(["enroll", "verify", "recover"]),
    expires_in: z.number(),
    methods: z.array(z.string()),
  }),
  z.object({ next_step: z.null() }),
]);

/** The second step of a sign-in: `/api/v1/auths/mfa` (contract 1.2, MFA). */
export function stepRoutes(deps: MfaDeps) {
  return [waitingRoute(deps), ...enrolRoutes(deps), ...verifyRoutes(deps), ...passkeyRoutes(deps)];
}

/** The token that was sent, else that of the sign-in which waits in this browser. */
const pick = ({ sessions }: MfaDeps, sent: string | undefined, request: RequestInfo) =>
  sent ?? sessions.waiting(request);

function waitingRoute(deps: MfaDeps) {
  return defineRoute(
    {
      method: "GET",
      path: "/auths/mfa/challenge",
      summary: "What the sign-in of this browser waits for",
      access: "public",
      returns: Waiting,
    },
    ({ request }) => findWaiting(deps, deps.sessions.waiting(request)),
  );
}

function enrolRoutes(deps: MfaDeps) {
  return [
    defineRoute(
      {
        method: "POST",
        path: "/auths/mfa/enroll",
        summary: "Start setting up a code app",
        access: "public",
        body: TokenForm,
        maxBody: formBytes,
        returns: Enrolment,
        fails: [400, 401, 403, 409, 413],
      },
      async ({ body, caller, request }) => {
        requireOn(deps);
        if (body.challenge_token === undefined && caller?.session) {
          const { account } = await requireFresh(deps, caller);
          if ((account?.secret ?? null) !== null) {
            throw new AppError("conflict", "A code app is set up already. Replace it instead.");
          }
          return await enrolFromSettings(deps, caller);
        }
        return await enrolAtSignIn(deps, pick(deps, body.challenge_token, request));
      },
    ),
    defineRoute(
      {
        method: "POST",
        path: "/auths/mfa/enroll/confirm",
        summary: "Make the code app the account's, with a code of it",
        access: "public",
        body: CodeForm,
        maxBody: formBytes,
        returns: Enrolled,
        fails: [400, 401, 403, 413, 429],
      },
      async ({ body, caller, request }) => {
        requireOn(deps);
        const token = pick(deps, body.challenge_token, request);
        return await confirmEnrolment(deps, { token, code: body.code, caller }, request);
      },
    ),
  ];
}

function verifyRoutes(deps: MfaDeps) {
  return [
    defineRoute(
      {
        method: "POST",
        path: "/auths/mfa/verify",
        summary: "Finish a sign-in with a code or a recovery code",
        access: "public",
        body: VerifyForm,
        maxBody: formBytes,
        returns: SessionObject,
        fails: [400, 401, 403, 413, 429],
      },
      async ({ body, request }) => {
        requireOn(deps);
        const code = body.code ?? body.recovery_code;
        if (code === undefined) {
          throw new AppError("invalid", "Give a code (code) or a recovery code (recovery_code).");
        }
        return await verifyCode(deps, { token: pick(deps, body.challenge_token, request), code }, request);
      },
    ),
    defineRoute(
      {
        method: "POST",
        path: "/auths/mfa/recover",
        summary: "Go on to a new enrolment with the token of a reset",
        access: "public",
        body: RecoverForm,
        maxBody: formBytes,
        returns: NextStep,
        fails: [400, 401, 403, 413, 429],
      },
      async ({ body, request }) => {
        requireOn(deps);
        const token = pick(deps, body.challenge_token, request);
        return await recover(deps, { token, resetToken: body.reset_token }, request);
      },
    ),
  ];
}

function passkeyRoutes(deps: MfaDeps) {
  const facts = { access: "public", maxBody: formBytes } as const;
  return [
    defineRoute(
      {
        method: "POST",
        path: "/auths/mfa/passkeys/options",
        summary: "What a browser makes a passkey with",
        ...facts,
        body: TokenForm,
        returns: Options,
        fails: [400, 401, 403, 413],
      },
      async ({ body, caller, request }) => {
        requireOn(deps);
        const token = pick(deps, body.challenge_token, request);
        return await startRegistration(deps, { token, caller }, request);
      },
    ),
    defineRoute(
      {
        method: "POST",
        path: "/auths/mfa/passkeys",
        summary: "Add a passkey that the browser made",
        ...facts,
        body: PasskeyForm,
        returns: Enrolled,
        fails: [400, 401, 403, 413, 429],
      },
      async ({ body, caller, request }) => {
        requireOn(deps);
        const token = pick(deps, body.challenge_token, request);
        const made = { token, caller, name: body.name, response: toMade(body.response) };
        return await addPasskey(deps, made, request);
      },
    ),
    defineRoute(
      {
        method: "POST",
        path: "/auths/mfa/passkey/options",
        summary: "What a browser asks a passkey with",
        ...facts,
        body: TokenForm,
        returns: Options,
        fails: [400, 403, 413],
      },
      ({ body, caller, request }) => startPasskey(deps, { token: body.challenge_token, caller }, request),
    ),
    defineRoute(
      {
        method: "POST",
        path: "/auths/mfa/passkey",
        summary: "Sign in with a passkey, alone or as the second step",
        ...facts,
        body: UseForm,
        returns: z.union([SessionObject, NextStep]),
        fails: [400, 401, 403, 413, 429],
      },
      async ({ body, caller, request }) => {
        const token = pick(deps, body.challenge_token, request) ?? "";
        return await signInWithPasskey(deps, { token, caller, response: toUsed(body.response) }, request);
      },
    ),
  ];
}
