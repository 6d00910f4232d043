import type { RegistrationResponseJSON } from "@simplewebauthn/server";
import type { Principal } from "#kernel/access/principal.ts";
import { AppError } from "#kernel/errors.ts";
import type { Reply, RequestInfo } from "#kernel/http/route.ts";
import { seconds } from "#storage/clock.ts";
import { toJson } from "#storage/values.ts";
import { attempt } from "../attempt.ts";
import { challengeSeconds, requireChallenge } from "../challenges.ts";
import type { MfaDeps } from "../deps.ts";
import { answerEnrolled, finish, openManaging, requireOwnChallenge } from "../enrolment.ts";
import { requireFresh } from "../manage.ts";
import { requireSame } from "../sign-in.ts";
import { ensureAccount, listPasskeys } from "../store.ts";
import { loadPasskeyLibrary } from "./library.ts";
import { requireRelyingParty } from "./relying-party.ts";

const mostPasskeys = 20;
/** EdDSA, ES256 and RS256: what authenticators make today. */
const algorithms = [-8, -7, -257];

/** What a browser makes a passkey with: within a sign-in that asks for a factor, or from the settings. */
export async function startRegistration(
  deps: MfaDeps,
  { token, caller }: { token: string | undefined; caller: Principal | undefined },
  request: RequestInfo,
) {
  const { db, name, config } = deps;
  const account = await findAccount(deps, token, caller);
  const party = requireRelyingParty(config.publicUrl, request);
  const { handle } = await ensureAccount(db, account.id);
  const known = await listPasskeys(db, account.id);
  if (known.length >= mostPasskeys) {
    throw new AppError("invalid", `An account has at most ${mostPasskeys} passkeys. Remove one first.`);
  }
  const { generateRegistrationOptions } = await loadPasskeyLibrary();
  const options = await generateRegistrationOptions({
    rpName: name,
    rpID: party.id,
    userName: account.email,
    userDisplayName: account.name,
    userID: new Uint8Array(Buffer.from(handle, "base64url")),
    timeout: challengeSeconds * 1000,
    supportedAlgorithmIDs: algorithms,
    excludeCredentials: known.map(({ id }) => ({ id })),
    authenticatorSelection: { residentKey: "preferred", userVerification: "preferred" },
  });
  const { challenge: nonce } = options;
  if (account.challengeId === undefined) {
    return { options, challenge_token: await openManaging(deps, caller as Principal, { nonce }) };
  }
  await db.updateTable("mfa_challenge").set({ nonce }).where("id", "=", account.challengeId).execute();
  return { options, challenge_token: token as string };
}

async function findAccount(deps: MfaDeps, token: string | undefined, caller: Principal | undefined) {
  if (caller?.session) {
    await requireFresh(deps, caller);
    return { id: caller.userId, name: caller.name, email: caller.email, challengeId: undefined };
  }
  const challenge = await requireChallenge(deps.db, token, ["enroll"]);
  return { ...(await requireSame(deps, challenge)), challengeId: challenge.id };
}

export interface NewPasskey {
  readonly token: string | undefined;
  readonly caller: Principal | undefined;
  readonly name: string;
  readonly response: RegistrationResponseJSON;
}

/** Stores a passkey that a browser made: the session, and recovery codes for who has none. */
export async function addPasskey(
  deps: MfaDeps,
  { token, caller, name, response }: NewPasskey,
  request: RequestInfo,
): Promise<Reply> {
  const party = requireRelyingParty(deps.config.publicUrl, request);
  const challenge = await requireOwnChallenge(deps, token, caller);
  const account = await requireSame(deps, challenge);
  const info = await verify(response, { nonce: challenge.nonce, party });
  const done = await attempt(deps, {
    userId: account.id,
    challenge,
    wrong: "The passkey could not be checked, or is known already. Try again.",
    check: async (tx) => {
      const row = info && {
        id: info.credential.id,
        user_id: account.id,
        name,
        public_key: Buffer.from(info.credential.publicKey).toString("base64url"),
        counter: info.credential.counter,
        transports: toJson(info.credential.transports ?? []),
        rp_id: party.id,
        is_synced: info.credentialBackedUp,
        created_at: seconds(),
        last_used_at: null,
      };
      const added =
        row &&
        (await tx
          .insertInto("mfa_passkey")
          .values(row)
          .onConflict((conflict) => conflict.column("id").doNothing())
          .returning("id")
          .executeTakeFirst());
      return added && (await finish(tx, account.id, {}));
    },
  });
  return await answerEnrolled(deps, { challenge, done, request, kind: "passkey" });
}

async function verify(
  response: RegistrationResponseJSON,
  { nonce, party }: { nonce: string | null; party: { id: string; origin: string } },
) {
  if (nonce === null) {
    return undefined;
  }
  const { verifyRegistrationResponse } = await loadPasskeyLibrary();
  // The library throws for every answer that is not what was asked for.
  const found = await verifyRegistrationResponse({
    response,
    expectedChallenge: nonce,
    expectedOrigin: party.origin,
    expectedRPID: party.id,
    requireUserVerification: false,
    supportedAlgorithmIDs: algorithms,
  }).catch(() => undefined);
  return found?.verified === true ? found.registrationInfo : undefined;
}

/** Throws `not_found` for a passkey that is not the caller's. */
export async function renamePasskey(
  deps: MfaDeps,
  caller: Principal,
  { id, name }: { id: string; name: string },
): Promise<void> {
  await requireFresh(deps, caller);
  const row = await deps.db
    .updateTable("mfa_passkey")
    .set({ name })
    .where("id", "=", id)
    .where("user_id", "=", caller.userId)
    .returning("id")
    .executeTakeFirst();
  if (row === undefined) {
    throw new AppError("not_found", "There is no such passkey.");
  }
}
