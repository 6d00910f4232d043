import { randomBytes } from "node:crypto";
import type { Selectable } from "kysely";
import { AppError } from "#kernel/errors.ts";
import { seconds } from "#storage/clock.ts";
import { toHash } from "./factors/recovery-codes.ts";
import type { MfaChallengeTable, MfaDatabase } from "./tables.ts";

/** Seconds that a challenge lives (contract 1.2). */
export const challengeSeconds = 300;
const triesPerChallenge = 5;

export type Challenge = Selectable<MfaChallengeTable>;
type NewChallenge = Pick<MfaChallengeTable, "step" | "method"> &
  Partial<Pick<MfaChallengeTable, "user_id" | "stamp" | "secret" | "nonce">>;

/** Stores a challenge; resolves to its token, `<user id>.<random>`, of which the database keeps the hash alone. */
export async function createChallenge(db: MfaDatabase, given: NewChallenge): Promise<string> {
  const { user_id: userId = null, stamp = null, secret = null, nonce = null, step, method } = given;
  const token = `${userId ?? ""}.${randomBytes(32).toString("base64url")}`;
  const expires = seconds() + challengeSeconds;
  const row = { id: toHash(token), user_id: userId, step, method, stamp, secret, nonce, expires_at: expires };
  await db
    .insertInto("mfa_challenge")
    .values({ ...row, tries: 0 })
    .execute();
  return token;
}

/** The challenge of a token while it lives, with one of these steps. */
export async function findChallenge(
  db: MfaDatabase,
  token: string | undefined,
  steps: readonly Challenge["step"][],
): Promise<Challenge | undefined> {
  return token === undefined
    ? undefined
    : await db
        .selectFrom("mfa_challenge")
        .selectAll()
        .where("id", "=", toHash(token))
        .where("step", "in", steps)
        .where("expires_at", ">", seconds())
        .executeTakeFirst();
}

/** The same; throws `unauthenticated` for a token that is none, is too old or belongs to another step. */
export async function requireChallenge(
  db: MfaDatabase,
  token: string | undefined,
  steps: readonly Challenge["step"][],
): Promise<Challenge> {
  const found = await findChallenge(db, token, steps);
  if (found === undefined) {
    throw expired();
  }
  return found;
}

export function expired(): AppError {
  return new AppError("unauthenticated", "This step of the sign-in is no longer open. Sign in again.");
}

/** Throws `rate_limited` for a challenge whose tries are used up: its sign-in has to begin anew. */
export function requireTries({ tries, expires_at: expiresAt }: Challenge): void {
  if (tries >= triesPerChallenge) {
    throw new AppError("rate_limited", "Too many wrong codes. Sign in again.", {
      retryAfter: Math.max(1, expiresAt - seconds()),
    });
  }
}

/** Takes a challenge out of the world; false when somebody else was quicker. */
export async function consumeChallenge(tx: MfaDatabase, id: string): Promise<boolean> {
  const gone = await tx.deleteFrom("mfa_challenge").where("id", "=", id).returning("id").executeTakeFirst();
  return gone !== undefined;
}

/** Deletes what nobody can answer any more. */
export async function sweepChallenges(db: MfaDatabase): Promise<void> {
  await db.deleteFrom("mfa_challenge").where("expires_at", "<=", seconds()).execute();
}
