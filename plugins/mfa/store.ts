import { randomBytes } from "node:crypto";
import { type Selectable, sql } from "kysely";
import { seconds } from "#storage/clock.ts";
import type { MfaAccountTable, MfaDatabase, MfaPasskeyTable } from "./tables.ts";

export type MfaAccount = Selectable<MfaAccountTable>;
export type Passkey = Selectable<MfaPasskeyTable>;

const handleBytes = 32;

/** The factors of an account. */
export interface Held {
  readonly account: MfaAccount | undefined;
  readonly passkeys: readonly Passkey[];
  readonly recoveryCodes: number;
}

/** Reads the factors of an account. */
export async function findHeld(db: MfaDatabase, userId: string): Promise<Held> {
  const account = await findAccount(db, userId);
  if (account === undefined) {
    return { account, passkeys: [], recoveryCodes: 0 };
  }
  const { count } = await db
    .selectFrom("mfa_recovery_code")
    .select(({ fn }) => fn.countAll<number>().as("count"))
    .where("user_id", "=", userId)
    .where("used_at", "is", null)
    .executeTakeFirstOrThrow();
  return { account, passkeys: await listPasskeys(db, userId), recoveryCodes: Number(count) };
}

/** True when there is a factor to sign in with; recovery codes stand in for one and are none. */
export function hasFactor({ account, passkeys }: Pick<Held, "account" | "passkeys">): boolean {
  return (account?.secret ?? null) !== null || passkeys.length > 0;
}

export async function findAccount(db: MfaDatabase, userId: string): Promise<MfaAccount | undefined> {
  return await db.selectFrom("mfa_account").selectAll().where("user_id", "=", userId).executeTakeFirst();
}

/** The account's row, made when there is none. */
export async function ensureAccount(db: MfaDatabase, userId: string): Promise<MfaAccount> {
  await db
    .insertInto("mfa_account")
    .values({
      user_id: userId,
      handle: randomBytes(handleBytes).toString("base64url"),
      tries: sql`'{}'::bigint[]` as never,
      created_at: seconds(),
    } as never)
    .onConflict((conflict) => conflict.column("user_id").doNothing())
    .execute();
  return await db
    .selectFrom("mfa_account")
    .selectAll()
    .where("user_id", "=", userId)
    .executeTakeFirstOrThrow();
}

export async function listPasskeys(db: MfaDatabase, userId: string): Promise<Passkey[]> {
  return await db
    .selectFrom("mfa_passkey")
    .selectAll()
    .where("user_id", "=", userId)
    .orderBy("created_at")
    .orderBy("id")
    .execute();
}

/** Takes every factor from an account; `reset` is the hash and end of the token by which it enrols anew. */
export async function clearFactors(
  tx: MfaDatabase,
  userId: string,
  reset: { readonly hash: string; readonly expiresAt: number } | null,
): Promise<void> {
  await ensureAccount(tx, userId);
  await tx.deleteFrom("mfa_passkey").where("user_id", "=", userId).execute();
  await tx.deleteFrom("mfa_recovery_code").where("user_id", "=", userId).execute();
  await tx.deleteFrom("mfa_challenge").where("user_id", "=", userId).execute();
  await tx
    .updateTable("mfa_account")
    .set({
      secret: null,
      last_step: null,
      enrolled_at: null,
      tries: sql`'{}'::bigint[]`,
      reset_hash: reset?.hash ?? null,
      reset_expires_at: reset?.expiresAt ?? null,
    })
    .where("user_id", "=", userId)
    .execute();
}
