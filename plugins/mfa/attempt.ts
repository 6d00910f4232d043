import { sql } from "kysely";
import { AppError } from "#kernel/errors.ts";
import { seconds } from "#storage/clock.ts";
import { type Challenge, consumeChallenge, expired, requireTries } from "./challenges.ts";
import type { MfaDeps } from "./deps.ts";
import type { MfaAccount } from "./store.ts";
import type { MfaDatabase } from "./tables.ts";

const triesPerAccount = 10;
const windowSeconds = 900;

export interface Attempt<T> {
  readonly userId: string;
  /** Consumed by a right answer, and used up by wrong ones. */
  readonly challenge?: Challenge | undefined;
  /** Resolves to undefined for a wrong answer. Awaits queries on `tx` alone. */
  check(tx: MfaDatabase, account: MfaAccount): Promise<T | undefined>;
  /** What a wrong answer is told. */
  readonly wrong: string;
}

type Outcome<T> = { value: T } | { refusal: AppError; isWrong?: true };

/**
 * Checks an answer under the account's row lock, so that one code is accepted once however many ask at the same time.
 * A wrong one counts: 5 for a challenge, 10 for an account in 15 minutes (contract 1.2). Throws `rate_limited`,
 * `invalid` for a wrong answer, and `unauthenticated` for a challenge that somebody else has just used.
 */
export async function attempt<T>(
  { transaction, emit }: Pick<MfaDeps, "transaction" | "emit">,
  { userId, challenge, check, wrong }: Attempt<T>,
): Promise<T> {
  const step = challenge?.step ?? "manage";
  const outcome = await transaction(async (tx): Promise<Outcome<T>> => {
    const account = await tx
      .selectFrom("mfa_account")
      .selectAll()
      .where("user_id", "=", userId)
      .forUpdate()
      .executeTakeFirst();
    if (account === undefined) {
      return { refusal: expired() };
    }
    const now = seconds();
    const recent = account.tries.map(Number).filter((time) => time > now - windowSeconds);
    if (recent.length >= triesPerAccount) {
      return { refusal: tooMany((recent.at(-triesPerAccount) ?? now) + windowSeconds - now) };
    }
    const live = challenge && (await lockChallenge(tx, challenge.id));
    if (challenge !== undefined && live === undefined) {
      return { refusal: expired() };
    }
    if (live) {
      requireTries(live);
    }
    const value = await check(tx, account);
    if (value === undefined) {
      await countTry(tx, userId, { recent, now, challenge });
      return { refusal: new AppError("invalid", wrong), isWrong: true };
    }
    await setTries(tx, userId, []);
    if (challenge !== undefined) {
      await consumeChallenge(tx, challenge.id);
    }
    return { value };
  });
  // Thrown out here: a transaction that fails would forget the try.
  if ("refusal" in outcome) {
    if (outcome.isWrong) {
      emit("auth.mfa.challenge.failed", userId, { step });
    }
    throw outcome.refusal;
  }
  emit("auth.mfa.challenge.verified", userId, { step });
  return outcome.value;
}

async function lockChallenge(tx: MfaDatabase, id: string): Promise<Challenge | undefined> {
  return await tx.selectFrom("mfa_challenge").selectAll().where("id", "=", id).forUpdate().executeTakeFirst();
}

async function countTry(
  tx: MfaDatabase,
  userId: string,
  { recent, now, challenge }: { recent: number[]; now: number; challenge: Challenge | undefined },
): Promise<void> {
  await setTries(tx, userId, [...recent, now]);
  if (challenge !== undefined) {
    await tx
      .updateTable("mfa_challenge")
      .set(({ eb }) => ({ tries: eb("tries", "+", 1) }))
      .where("id", "=", challenge.id)
      .execute();
  }
}

async function setTries(tx: MfaDatabase, userId: string, tries: readonly number[]): Promise<void> {
  await tx
    .updateTable("mfa_account")
    .set({ tries: sql`${[...tries]}::bigint[]` })
    .where("user_id", "=", userId)
    .execute();
}

function tooMany(wait: number): AppError {
  return new AppError("rate_limited", "Too many wrong codes for this account. Try again later.", {
    retryAfter: Math.max(1, wait),
  });
}
