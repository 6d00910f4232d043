import { AppError } from "#kernel/errors.ts";
import type { Reply, RequestInfo } from "#kernel/http/route.ts";
import type { AuthMethod, FactorAccount, NextStep } from "#plugins/accounts/service.ts";
import { seconds } from "#storage/clock.ts";
import { attempt } from "./attempt.ts";
import {
  type Challenge,
  challengeSeconds,
  createChallenge,
  expired,
  findChallenge,
  requireChallenge,
} from "./challenges.ts";
import type { MfaDeps } from "./deps.ts";
import { normalizeCode, takeRecoveryCode, toHash } from "./factors/recovery-codes.ts";
import { findStep } from "./factors/totp.ts";
import { isBypassed, isRequired } from "./policy.ts";
import { findHeld, hasFactor, type Held, type MfaAccount } from "./store.ts";
import type { MfaDatabase } from "./tables.ts";

export const wrongCode = "The code is not right, or was used already.";

/** What a sign-in still needs (contract 1.2, MFA); undefined where its session starts at once. */
export async function findNextStep(
  deps: MfaDeps,
  account: FactorAccount,
  method: AuthMethod,
): Promise<NextStep | undefined> {
  const { db, config } = deps;
  if (!config.enabled || isBypassed(config, method)) {
    return undefined;
  }
  if (account.role === "pending") {
    return { next_step: "pending" };
  }
  const held = await findHeld(db, account.id);
  const step = chooseStep(held, isRequired(config, account));
  return step && (await openStep(deps, { step, account, method, held }));
}

function chooseStep(held: Held, required: boolean): "enroll" | "verify" | "recover" | undefined {
  if (held.account?.reset_hash) {
    return "recover";
  }
  if (hasFactor(held)) {
    return "verify";
  }
  return required ? "enroll" : undefined;
}

async function openStep(
  { db, emit }: Pick<MfaDeps, "db" | "emit">,
  given: {
    readonly step: "enroll" | "verify" | "recover";
    readonly account: Pick<FactorAccount, "id" | "stamp">;
    readonly method: AuthMethod;
    readonly held: Held;
  },
): Promise<NextStep> {
  const { step, account, method, held } = given;
  const token = await createChallenge(db, { user_id: account.id, step, method, stamp: account.stamp });
  emit("auth.mfa.challenge.started", account.id, { step, method });
  return {
    next_step: step,
    challenge_token: token,
    expires_in: challengeSeconds,
    methods: toMethods(step, held),
  };
}

/** What a step can be done with. */
export function toMethods(step: Challenge["step"], held: Held): ("totp" | "recovery_code" | "passkey")[] {
  if (step === "enroll") {
    return ["totp", "passkey"];
  }
  return step === "verify"
    ? [
        ...((held.account?.secret ?? null) === null ? [] : (["totp"] as const)),
        ...(held.passkeys.length > 0 ? (["passkey"] as const) : []),
        ...(held.recoveryCodes > 0 ? (["recovery_code"] as const) : []),
      ]
    : [];
}

/** What the sign-in that waits in a browser needs, by its token. */
export async function findWaiting({ db }: Pick<MfaDeps, "db">, token: string | undefined) {
  if (token === "pending") {
    return { next_step: "pending" as const };
  }
  const challenge = await findChallenge(db, token, ["enroll", "verify", "recover"]);
  const userId = challenge?.user_id ?? null;
  if (challenge === undefined || userId === null) {
    return { next_step: null };
  }
  const { step, expires_at: expiresAt } = challenge;
  return {
    next_step: step as "enroll" | "verify" | "recover",
    expires_in: Math.max(1, expiresAt - seconds()),
    methods: toMethods(step, await findHeld(db, userId)),
  };
}

/** Ends a sign-in with a code of the app, or with a recovery code. Throws as `attempt` does. */
export async function verifyCode(
  deps: MfaDeps,
  { token, code }: { token: string | undefined; code: string },
  request: RequestInfo,
): Promise<Reply> {
  const challenge = await requireChallenge(deps.db, token, ["verify"]);
  const userId = challenge.user_id as string;
  const by = await attempt(deps, {
    userId,
    challenge,
    wrong: wrongCode,
    check: (tx, account) => checkCode(deps, tx, { account, code }),
  });
  if (by === "recovery_code") {
    deps.emit("auth.mfa.recovery_code.used", userId);
  }
  return await startVerified(deps, challenge, request);
}

/** Which factor a code proves; a code of the app and a recovery code are each taken once. */
export async function checkCode(
  { seal }: Pick<MfaDeps, "seal">,
  tx: MfaDatabase,
  { account, code }: { account: MfaAccount; code: string },
): Promise<"totp" | "recovery_code" | undefined> {
  const { user_id: userId, secret, last_step: lastStep } = account;
  const typed = normalizeCode(code);
  if (typed.length !== 6) {
    return (await takeRecoveryCode(tx, userId, typed)) ? "recovery_code" : undefined;
  }
  const step =
    secret === null ? undefined : findStep(String(seal.open(secret, toPlace(userId))), typed, { lastStep });
  if (step === undefined) {
    return undefined;
  }
  await tx.updateTable("mfa_account").set({ last_step: step }).where("user_id", "=", userId).execute();
  return "totp";
}

/** Where the secret of an account is kept; a seal opens nowhere else. */
export const toPlace = (userId: string): string => `account:${userId}`;

/** Starts the session of a sign-in whose second step is done. */
export async function startVerified(
  { sessions }: Pick<MfaDeps, "sessions">,
  { user_id: id, stamp, method }: Pick<Challenge, "user_id" | "stamp" | "method">,
  request: RequestInfo,
): Promise<Reply> {
  return await sessions.start(
    { id: id as string, stamp: stamp ?? undefined },
    { method: method as AuthMethod, request },
  );
}

/**
 * Lets an account that was reset enrol anew with the token it was given; the token counts until it has. Throws as
 * `attempt` does.
 */
export async function recover(
  deps: MfaDeps,
  { token, resetToken }: { token: string | undefined; resetToken: string },
  request: RequestInfo,
): Promise<Reply> {
  const challenge = await requireChallenge(deps.db, token, ["recover"]);
  const userId = challenge.user_id as string;
  await attempt(deps, {
    userId,
    challenge,
    wrong: "The reset token is not right, or too old. Ask for another one.",
    check: async (_tx, account) => isResetToken(account, resetToken) || undefined,
  });
  const account = await requireSame(deps, challenge);
  const held = await findHeld(deps.db, userId);
  const method = challenge.method as AuthMethod;
  return deps.sessions.answer(await openStep(deps, { step: "enroll", account, method, held }), request);
}

function isResetToken({ reset_hash: hash, reset_expires_at: expires }: MfaAccount, token: string): boolean {
  return hash !== null && hash === toHash(token.trim()) && (expires ?? 0) > seconds();
}

/** The account of a challenge. Throws `unauthenticated` when it changed what it signs in with since. */
export async function requireSame(
  { sessions }: Pick<MfaDeps, "sessions">,
  { user_id: id, stamp }: Pick<Challenge, "user_id" | "stamp">,
): Promise<FactorAccount & { readonly name: string; readonly email: string }> {
  const account = id === null ? undefined : await sessions.find(id);
  if (account === undefined || (stamp !== null && account.stamp !== stamp)) {
    throw expired();
  }
  return account;
}

/** Throws `invalid` while ENABLE_MFA is off. */
export function requireOn({ config }: Pick<MfaDeps, "config">): void {
  if (!config.enabled) {
    throw new AppError("invalid", "The second factor is switched off on this installation.");
  }
}
