import type { AuthenticationResponseJSON } from "@simplewebauthn/server";
import type { Principal } from "#kernel/access/principal.ts";
import { AppError } from "#kernel/errors.ts";
import type { Reply, RequestInfo } from "#kernel/http/route.ts";
import { seconds } from "#storage/clock.ts";
import { attempt } from "../attempt.ts";
import { type Challenge, challengeSeconds, expired, findChallenge, requireChallenge } from "../challenges.ts";
import type { MfaDeps } from "../deps.ts";
import { openManaging } from "../enrolment.ts";
import { toHash } from "../factors/recovery-codes.ts";
import { freshUntil } from "../manage.ts";
import { requireOn, requireSame, startVerified } from "../sign-in.ts";
import { findHeld, listPasskeys, type Passkey } from "../store.ts";
import { loadPasskeyLibrary } from "./library.ts";
import { type RelyingParty, requireRelyingParty } from "./relying-party.ts";

const wrongPasskey = "The passkey could not be checked. Try again, or use another way.";
const firstPlace = "passkey-first";

interface Asked {
  readonly token: string | undefined;
  readonly caller: Principal | undefined;
}

/**
 * What a browser asks a passkey with: as the second step of a sign-in, to prove once more who uses a session, or as the
 * only step. The last is sealed and stored nowhere, for anybody may ask for it.
 */
export async function startPasskey(deps: MfaDeps, { token, caller }: Asked, request: RequestInfo) {
  requireOn(deps);
  const { id: rpID } = requireRelyingParty(deps.config.publicUrl, request);
  const challenge = await findChallenge(deps.db, token, ["verify"]);
  const userId = challenge?.user_id ?? (token === undefined ? caller?.userId : undefined);
  const isFirst = userId === undefined;
  if (isFirst) {
    requirePasswordOn(deps);
  }
  const known = isFirst ? [] : (await listPasskeys(deps.db, userId)).filter((each) => each.rp_id === rpID);
  const { generateAuthenticationOptions } = await loadPasskeyLibrary();
  const options = await generateAuthenticationOptions({
    rpID,
    timeout: challengeSeconds * 1000,
    // Alone it has to prove the person, too; beside a password the device will do.
    userVerification: isFirst ? "required" : "preferred",
    ...(isFirst
      ? {}
      : {
          allowCredentials: known.map(({ id, transports }) => ({ id, transports: transports as string[] })),
        }),
  });
  return { options, challenge_token: await keepNonce(deps, { challenge, token, caller }, options.challenge) };
}

async function keepNonce(
  deps: MfaDeps,
  { challenge, token, caller }: Asked & { challenge: Challenge | undefined },
  nonce: string,
): Promise<string> {
  if (challenge !== undefined) {
    await deps.db.updateTable("mfa_challenge").set({ nonce }).where("id", "=", challenge.id).execute();
    return token as string;
  }
  if (token === undefined && caller?.session) {
    return await openManaging(deps, caller, { nonce });
  }
  return deps.seal.seal({ nonce, until: seconds() + challengeSeconds }, firstPlace);
}

export interface PasskeyAnswer extends Asked {
  readonly token: string;
  readonly response: AuthenticationResponseJSON;
}

/** Signs in with a passkey: as the second step, or alone. Throws as `attempt` does. */
export async function signInWithPasskey(
  deps: MfaDeps,
  { token, response }: PasskeyAnswer,
  request: RequestInfo,
): Promise<Reply> {
  requireOn(deps);
  const party = requireRelyingParty(deps.config.publicUrl, request);
  if (!token.startsWith("sealed:")) {
    const challenge = await requireChallenge(deps.db, token, ["verify"]);
    await requireSame(deps, challenge);
    await accept(deps, { userId: challenge.user_id as string, challenge, response, party });
    return await startVerified(deps, challenge, request);
  }
  requirePasswordOn(deps);
  const nonce = openFirst(deps, token);
  const passkey = await deps.db
    .selectFrom("mfa_passkey")
    .select("user_id")
    .where("id", "=", response.id)
    .executeTakeFirst();
  const account = passkey && (await deps.sessions.find(passkey.user_id));
  if (account === undefined) {
    throw new AppError("invalid", "This passkey is not known here. Sign in another way.");
  }
  await accept(deps, { userId: account.id, nonce, response, party, usedToken: token });
  if (account.role === "pending") {
    return deps.sessions.answer({ next_step: "pending" }, request);
  }
  return await startVerified(
    deps,
    { user_id: account.id, stamp: account.stamp, method: "password" },
    request,
  );
}

/** Proves once more, with a passkey, who uses the session. */
export async function reauthenticateWithPasskey(
  deps: MfaDeps,
  caller: Principal,
  { token, response, request }: Omit<PasskeyAnswer, "caller"> & { request: RequestInfo },
): Promise<void> {
  requireOn(deps);
  await freshUntil(deps, caller, await findHeld(deps.db, caller.userId));
  const party = requireRelyingParty(deps.config.publicUrl, request);
  const challenge = await requireChallenge(deps.db, token, ["manage"]);
  if (challenge.user_id !== caller.userId) {
    throw expired();
  }
  await accept(deps, { userId: caller.userId, challenge, response, party });
  await deps.sessions.noteProof(caller, true);
}

function openFirst({ seal }: Pick<MfaDeps, "seal">, token: string): string {
  let opened: { nonce: string; until: number };
  try {
    opened = seal.open(token, firstPlace) as typeof opened;
  } catch {
    throw expired();
  }
  if (opened.until <= seconds()) {
    throw expired();
  }
  return opened.nonce;
}

interface Acceptance {
  readonly userId: string;
  readonly challenge?: Challenge;
  /** Of a sign-in with a passkey alone; else the challenge's. */
  readonly nonce?: string;
  readonly response: AuthenticationResponseJSON;
  readonly party: RelyingParty;
  /** Kept so that it opens nothing twice. */
  readonly usedToken?: string;
}

async function accept(deps: MfaDeps, given: Acceptance): Promise<void> {
  const { userId, challenge, response, usedToken } = given;
  const passkey = (await listPasskeys(deps.db, userId)).find(({ id }) => id === response.id);
  const counter = passkey && (await verify(passkey, given));
  await attempt(deps, {
    userId,
    challenge,
    wrong: wrongPasskey,
    check: async (tx) => {
      if (counter === undefined || passkey === undefined) {
        return undefined;
      }
      if (usedToken !== undefined) {
        const row = {
          id: toHash(usedToken),
          user_id: userId,
          step: "passkey",
          method: "password",
          tries: 0,
        } as const;
        const kept = await tx
          .insertInto("mfa_challenge")
          .values({
            ...row,
            stamp: null,
            secret: null,
            nonce: null,
            expires_at: seconds() + challengeSeconds,
          })
          .onConflict((conflict) => conflict.column("id").doNothing())
          .returning("id")
          .executeTakeFirst();
        if (kept === undefined) {
          return undefined;
        }
      }
      const used = await tx
        .updateTable("mfa_passkey")
        .set({ counter, last_used_at: seconds() })
        .where("id", "=", passkey.id)
        .returning("id")
        .executeTakeFirst();
      return used && true;
    },
  });
}

/** The authenticator's new count of uses; undefined for an answer that proves nothing. */
async function verify(
  passkey: Passkey,
  { challenge, nonce = challenge?.nonce ?? undefined, response, party }: Acceptance,
): Promise<number | undefined> {
  if (nonce === undefined) {
    return undefined;
  }
  const { verifyAuthenticationResponse } = await loadPasskeyLibrary();
  const found = await verifyAuthenticationResponse({
    response,
    expectedChallenge: nonce,
    expectedOrigin: party.origin,
    expectedRPID: party.id,
    credential: {
      id: passkey.id,
      publicKey: new Uint8Array(Buffer.from(passkey.public_key, "base64url")),
      counter: Number(passkey.counter),
    },
    requireUserVerification: challenge === undefined,
  }).catch(() => undefined);
  return found?.verified === true ? found.authenticationInfo.newCounter : undefined;
}

/** A passkey alone stands in the password's place and is off with it. */
function requirePasswordOn({ isPasswordOn }: Pick<MfaDeps, "isPasswordOn">): void {
  if (!isPasswordOn()) {
    throw new AppError("forbidden", "Signing in with a passkey alone is switched off, as passwords are.");
  }
}
