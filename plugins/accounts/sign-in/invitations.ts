import { createHash, randomBytes } from "node:crypto";
import { AppError } from "#kernel/errors.ts";
import { seconds } from "#storage/clock.ts";
import type { AccountsDeps } from "../deps.ts";
import { concludeSignIn, type SignInResult } from "../sessions/sessions.ts";
import type { AccountsDatabase } from "../tables.ts";
import { setPassword } from "../users/users-store.ts";
import { trustsHeaders } from "./trusted-header.ts";

/** Seconds that a link waits for the person it was sent to. */
export const invitationSeconds = 7 * 24 * 3600;
/** Seconds between a sign-in with a password of somebody else and the choice of an own one. */
export const changeSeconds = 15 * 60;

/** A link by which one person chooses a password and signs in, once. */
export interface Invitation {
  readonly token: string;
  readonly expires_at: number;
}

/** Links by which people choose their password: those of new accounts, and those for people who forgot it. */
export interface Invitations {
  /** Whose link it is. Throws `not_found` for one that was used, replaced or is too old. */
  find(token: string, address: string): Promise<{ name: string; email: string }>;
  /** Sets the password, ends every session and signs in. Throws `not_found` as `find` does, `invalid` for the password. */
  accept(form: { token: string; password: string }, address: string): Promise<SignInResult>;
}

/** Makes the link of each account, in their order; earlier ones are good no longer. */
export async function invite(
  db: AccountsDatabase,
  userIds: readonly string[],
  lifetime: number,
): Promise<Invitation[]> {
  const made = userIds.map((userId) => ({
    userId,
    token: randomBytes(24).toString("base64url"),
    expires_at: seconds() + lifetime,
  }));
  await db
    .insertInto("account_invitation")
    .values(
      made.map(({ userId, token, expires_at }) => ({ user_id: userId, hash: toHash(token), expires_at })),
    )
    .onConflict((conflict) =>
      conflict.column("user_id").doUpdateSet((row) => ({
        hash: row.ref("excluded.hash"),
        expires_at: row.ref("excluded.expires_at"),
      })),
    )
    .execute();
  return made.map(({ token, expires_at }) => ({ token, expires_at }));
}

/** Deletes links that are too old. */
export async function sweepInvitations(db: AccountsDatabase): Promise<void> {
  await db.deleteFrom("account_invitation").where("expires_at", "<=", seconds()).execute();
}

/** Throws `forbidden` where nobody signs in with a password: a link to choose one leads nowhere. */
export function requirePasswords(config: AccountsDeps["config"]): void {
  if (!config.passwordAuth || trustsHeaders(config)) {
    throw new AppError("forbidden", "Signing in with a password is switched off.");
  }
}

/** Creates the functions behind the routes that people with a link call. */
export function createInvitations(deps: AccountsDeps): Invitations {
  const { db, transaction, config, passwords, throttle, changes, emit } = deps;
  const open = async (token: string, address: string) => {
    requirePasswords(config);
    const subjects = [`address:${address}`] as const;
    await throttle.enter(subjects);
    const found = await db
      .selectFrom("account_invitation")
      .innerJoin("user", "user.id", "account_invitation.user_id")
      .innerJoin("auth", "auth.id", "user.id")
      .select(["user.id", "user.name", "user.email"])
      .where("hash", "=", toHash(token))
      .where("expires_at", ">", seconds())
      .where("auth.active", "=", true)
      .executeTakeFirst();
    if (found === undefined) {
      throw outdated();
    }
    await throttle.giveBack(subjects);
    return found;
  };
  return {
    async find(token, address) {
      const { name, email } = await open(token, address);
      return { name, email };
    },
    async accept({ token, password }, address) {
      const { id } = await open(token, address);
      const hash = await passwords.hash(password);
      const stamp = await transaction(async (tx) => {
        // Of two answers to one link at the same time the second finds it used.
        const used = await tx
          .deleteFrom("account_invitation")
          .where("hash", "=", toHash(token))
          .returning("user_id")
          .executeTakeFirst();
        if (used === undefined) {
          throw outdated();
        }
        return await setPassword(tx, id, hash);
      });
      await changes.announce({ userId: id });
      emit("auth.password_changed", { user_id: id });
      return await concludeSignIn(deps, { id, stamp }, "password");
    },
  };
}

function outdated(): AppError {
  return new AppError(
    "not_found",
    "This link has expired or was used already. Ask an administrator for a new one.",
  );
}

/** The token is random and long: a hash that is quick to compute keeps it. */
function toHash(token: string): string {
  return createHash("sha256").update(token).digest("hex");
}
