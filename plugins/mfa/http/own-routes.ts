import { z } from "zod";
import { AppError } from "#kernel/errors.ts";
import { defineRoute } from "#kernel/http/route.ts";
import { SessionObject } from "#plugins/accounts/service.ts";
import type { MfaDeps } from "../deps.ts";
import { enrolFromSettings } from "../enrolment.ts";
import { reauthenticate, removeFactor, renewRecoveryCodes, requireFresh } from "../manage.ts";
import { reauthenticateWithPasskey } from "../passkeys/authenticate.ts";
import { toFresh, toState } from "../own-state.ts";
import { renamePasskey } from "../passkeys/register.ts";
import { Codes, Enrolment, NameForm, PasskeyParams, ProofForm, State, toUsed } from "./schema.ts";

const Fresh = z.object({ fresh_until: z.number() });

/** One's own factors: `/api/v1/auths/mfa` (contract 1.2, MFA). */
export function ownRoutes(deps: MfaDeps) {
  return [...stateRoutes(deps), ...changeRoutes(deps)];
}

function stateRoutes(deps: MfaDeps) {
  return [
    defineRoute(
      {
        method: "GET",
        path: "/auths/mfa",
        summary: "The own second factors",
        access: "user",
        returns: State,
        fails: [403],
      },
      ({ caller, request }) => toState(deps, caller, request),
    ),
    defineRoute(
      {
        method: "POST",
        path: "/auths/mfa/reauthenticate",
        summary: "Prove once more who uses the session, before factors are changed",
        access: "user",
        body: ProofForm,
        maxBody: 64 * 1024,
        returns: Fresh,
        fails: [400, 401, 403, 429],
      },
      async ({ caller, body, request }) => {
        if (body.response === undefined) {
          await reauthenticate(deps, caller, body);
        } else {
          const proof = { token: body.challenge_token ?? "", response: toUsed(body.response), request };
          await reauthenticateWithPasskey(deps, caller, proof);
        }
        return { fresh_until: await toFresh(deps, caller) };
      },
    ),
  ];
}

function changeRoutes(deps: MfaDeps) {
  const facts = { access: "user", fails: [400, 403, 404] } as const;
  return [
    defineRoute(
      {
        method: "POST",
        path: "/auths/mfa/replace",
        summary: "Start setting up another code app in place of the present one",
        ...facts,
        returns: Enrolment,
      },
      async ({ caller }) => {
        if (((await requireFresh(deps, caller)).account?.secret ?? null) === null) {
          throw new AppError("invalid", "There is no code app to replace. Set one up.");
        }
        return await enrolFromSettings(deps, caller);
      },
    ),
    defineRoute(
      {
        method: "POST",
        path: "/auths/mfa/recovery_codes",
        summary: "Make new recovery codes in place of all earlier ones",
        ...facts,
        returns: Codes,
      },
      async ({ caller }) => ({ recovery_codes: await renewRecoveryCodes(deps, caller) }),
    ),
    defineRoute(
      {
        method: "DELETE",
        path: "/auths/mfa/totp",
        summary: "Remove the code app; the other sessions end",
        ...facts,
        returns: SessionObject,
      },
      ({ caller, request }) => removeFactor(deps, { caller }, request),
    ),
    defineRoute(
      {
        method: "POST",
        path: "/auths/mfa/passkeys/:id",
        summary: "Rename a passkey",
        ...facts,
        params: PasskeyParams,
        body: NameForm,
        returns: z.literal(true),
      },
      async ({ caller, params, body }) => {
        await renamePasskey(deps, caller, { id: params.id, name: body.name });
        return true as const;
      },
    ),
    defineRoute(
      {
        method: "DELETE",
        path: "/auths/mfa/passkeys/:id",
        summary: "Remove a passkey; the other sessions end",
        ...facts,
        params: PasskeyParams,
        returns: SessionObject,
      },
      ({ caller, params, request }) => removeFactor(deps, { caller, passkeyId: params.id }, request),
    ),
  ];
}
