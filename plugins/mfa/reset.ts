import { randomBytes } from "node:crypto";
import { AppError } from "#kernel/errors.ts";
import type { Command } from "#kernel/plugin.ts";
import { endSessions } from "#plugins/accounts/service.ts";
import { recordByCommand } from "#plugins/audit/service.ts";
import { seconds } from "#storage/clock.ts";
import type { mfaVariables } from "./config.ts";
import { toHash } from "./factors/recovery-codes.ts";
import { clearFactors } from "./store.ts";
import type { MfaDatabase, MfaTables } from "./tables.ts";

const tokenSeconds = 86_400;
export const resetAction = "auth.mfa.reset";

export interface Reset {
  /** Opens the next enrolment of the account, once; shown now and kept as a hash. */
  readonly token: string;
  /** Epoch seconds. */
  readonly expiresAt: number;
}

/** Takes every factor from an account and ends its sessions; run it in a transaction (contract 1.2). */
export async function resetFactors(tx: MfaDatabase, userId: string): Promise<Reset> {
  const token = randomBytes(24).toString("base64url");
  const expiresAt = seconds() + tokenSeconds;
  await clearFactors(tx, userId, { hash: toHash(token), expiresAt });
  await endSessions(tx as never, userId);
  return { token, expiresAt };
}

/** `npm start -- reset-mfa --email x --reason y`: for people who lost their device and their codes. */
export const resetCommand: Command<typeof mfaVariables, MfaTables> = {
  name: "reset-mfa",
  summary: "Takes the second factor from an account, ends its sessions and prints a token to set one up anew",
  options: { email: "the account", reason: "why, kept in the record of administrators' actions" },
  async run({ db, options, print }) {
    const { email = "", reason = "" } = options;
    if (email.trim() === "") {
      throw new AppError("invalid", "Say whose second factor to reset: --email name@example.org");
    }
    if (reason.trim().length < 3) {
      throw new AppError("invalid", 'Say why, at least 3 characters: --reason "lost the phone"');
    }
    const user = await db
      .selectFrom("user")
      .select(["id", "name", "email"])
      .where("email", "=", email.trim().toLowerCase())
      .executeTakeFirst();
    if (user === undefined) {
      throw new AppError("not_found", `There is no account with the address ${email}.`);
    }
    const { token, expiresAt } = await db.transaction().execute(async (tx) => {
      await recordByCommand(tx, {
        action: resetAction,
        object: { type: "user", id: user.id, name: user.name },
        after: { reason: reason.trim() },
      });
      return await resetFactors(tx as MfaDatabase, user.id);
    });
    print(`The second factor of ${user.email} was reset and every session of the account has ended.`);
    print(`Reset token, good once until ${new Date(expiresAt * 1000).toISOString()}: ${token}`);
    print("The account signs in as before, gives this token and sets a second factor up anew.");
  },
};
