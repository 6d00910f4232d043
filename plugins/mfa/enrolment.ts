import { AppError } from "#kernel/errors.ts";
import type { Principal } from "#kernel/access/principal.ts";
import { type Reply, reply, type RequestInfo } from "#kernel/http/route.ts";
import { endSessions } from "#plugins/accounts/service.ts";
import { seconds } from "#storage/clock.ts";
import { attempt } from "./attempt.ts";
import { type Challenge, challengeSeconds, createChallenge, requireChallenge } from "./challenges.ts";
import type { MfaDeps } from "./deps.ts";
import { normalizeCode, replaceRecoveryCodes } from "./factors/recovery-codes.ts";
import { createSecret, findStep, toQrCode } from "./factors/totp.ts";
import { requireSame, startVerified, toPlace } from "./sign-in.ts";
import { ensureAccount } from "./store.ts";
import type { MfaDatabase } from "./tables.ts";

/** What an app is set up with; shown once and active from the first right code on (contract 1.2). */
export interface StartedEnrolment {
  readonly manual_key: string;
  readonly qr_code: string;
  readonly challenge_token: string;
  readonly expires_in: number;
}

/** Starts setting a code app up within a sign-in that asks for it. Throws `unauthenticated` for another step's token. */
export async function enrolAtSignIn(deps: MfaDeps, token: string | undefined): Promise<StartedEnrolment> {
  const challenge = await requireChallenge(deps.db, token, ["enroll"]);
  const account = await requireSame(deps, challenge);
  const secret = createSecret();
  await ensureAccount(deps.db, account.id);
  await deps.db
    .updateTable("mfa_challenge")
    .set({ secret: deps.seal.seal(secret, toPlace(account.id)) })
    .where("id", "=", challenge.id)
    .execute();
  return show(deps, {
    secret,
    email: account.email,
    token: token as string,
    expiresAt: challenge.expires_at,
  });
}

/** Starts setting an app up, or another one in its place, for somebody who is signed in. */
export async function enrolFromSettings(deps: MfaDeps, caller: Principal): Promise<StartedEnrolment> {
  const secret = createSecret();
  await ensureAccount(deps.db, caller.userId);
  const sealed = deps.seal.seal(secret, toPlace(caller.userId));
  const token = await openManaging(deps, caller, { secret: sealed });
  const expiresAt = seconds() + challengeSeconds;
  return show(deps, { secret, email: caller.email, token, expiresAt });
}

/** Opens a change of factors by somebody who is signed in. */
export async function openManaging(
  { db, sessions }: Pick<MfaDeps, "db" | "sessions">,
  caller: Principal,
  more: { readonly secret?: string; readonly nonce?: string },
): Promise<string> {
  const method = (await sessions.proofs(caller))?.method ?? "password";
  return await createChallenge(db, { user_id: caller.userId, step: "manage", method, ...more });
}

function show(
  { name }: Pick<MfaDeps, "name">,
  given: { secret: string; email: string; token: string; expiresAt: number },
): StartedEnrolment {
  return {
    manual_key: given.secret,
    qr_code: toQrCode(given.secret, { issuer: name, account: given.email }),
    challenge_token: given.token,
    expires_in: Math.max(1, given.expiresAt - seconds()),
  };
}

/** Makes the app the account's with a code of it: the session, and recovery codes (contract 1.2). */
export async function confirmEnrolment(
  deps: MfaDeps,
  { token, code, caller }: { token: string | undefined; code: string; caller: Principal | undefined },
  request: RequestInfo,
): Promise<Reply> {
  const challenge = await requireOwnChallenge(deps, token, caller);
  const account = await requireSame(deps, challenge);
  const { secret } = challenge;
  if (secret === null) {
    throw new AppError("invalid", "Ask for a key first, then type a code of the app it is in.");
  }
  const plain = String(deps.seal.open(secret, toPlace(account.id)));
  const done = await attempt(deps, {
    userId: account.id,
    challenge,
    wrong: "The code is not right. Look whether the clock of the device is.",
    check: async (tx) => {
      const step = findStep(plain, normalizeCode(code), { lastStep: null });
      return step === undefined
        ? undefined
        : await finish(tx, account.id, { secret, last_step: step, enrolled_at: seconds() });
    },
  });
  return await answerEnrolled(deps, { challenge, done, request, kind: "totp" });
}

/** The challenge of an enrolment; one from the settings belongs to the session that opened it. */
export async function requireOwnChallenge(
  { db }: Pick<MfaDeps, "db">,
  token: string | undefined,
  caller: Principal | undefined,
): Promise<Challenge> {
  const challenge = await requireChallenge(db, token, ["enroll", "manage"]);
  if (challenge.step === "manage" && (!caller?.session || caller.userId !== challenge.user_id)) {
    throw new AppError("forbidden", "This belongs to another account. Sign in again.");
  }
  return challenge;
}

export interface FinishedEnrolment {
  /** Of the account's sessions from now on. */
  readonly stamp: string | undefined;
  /** New ones, where the account had none left; else null. */
  readonly codes: readonly string[] | null;
}

/** Stores a factor: ends all sessions, gives recovery codes to who has none, and closes a reset. */
export async function finish(
  tx: MfaDatabase,
  userId: string,
  columns: { secret?: string; last_step?: number; enrolled_at?: number },
): Promise<FinishedEnrolment> {
  await tx
    .updateTable("mfa_account")
    .set({ ...columns, reset_hash: null, reset_expires_at: null })
    .where("user_id", "=", userId)
    .execute();
  const isTotp = columns.secret !== undefined;
  const left = await tx
    .selectFrom("mfa_recovery_code")
    .select("hash")
    .where("user_id", "=", userId)
    .where("used_at", "is", null)
    .limit(1)
    .executeTakeFirst();
  const codes = isTotp || left === undefined ? await replaceRecoveryCodes(tx, userId) : null;
  return { stamp: await endSessions(tx as never, userId), codes };
}

/** Answers an enrolment with the session that goes on and the recovery codes. */
export async function answerEnrolled(
  deps: MfaDeps,
  given: {
    readonly challenge: Challenge;
    readonly done: FinishedEnrolment;
    readonly request: RequestInfo;
    readonly kind: "totp" | "passkey";
  },
): Promise<Reply> {
  const { challenge, done, request, kind } = given;
  const userId = challenge.user_id as string;
  await deps.sessions.changed({ userId });
  deps.emit("auth.mfa.enabled", userId, { factor: kind });
  const session = await startVerified(deps, { ...challenge, stamp: done.stamp ?? null }, request);
  return reply(
    { ...(session.value as Record<string, unknown>), recovery_codes: done.codes },
    { headers: session.headers },
  );
}
