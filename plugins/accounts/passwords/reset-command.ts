import { randomBytes } from "node:crypto";
import { AppError } from "#kernel/errors.ts";
import type { Command } from "#kernel/plugin.ts";
import { createConfiguredPasswords } from "../create-accounts.ts";
import type { config as variables } from "../config.ts";
import type { AccountsDatabase, AccountsTables } from "../tables.ts";
import { findUserByEmail, setActive, setPassword } from "../users/users-store.ts";

export interface ResetPassword {
  readonly db: AccountsDatabase;
  readonly email: string;
  /** A new one is made up and printed when left out. */
  readonly password?: string | undefined;
  /** `Passwords.hash`. */
  hash(password: string): Promise<string>;
  print(line: string): void;
}

/** `npm start -- reset-password --email x`: for operators who locked themselves out. */
export function createResetPasswordCommand(hashCost: number): Command<typeof variables, AccountsTables> {
  return {
    name: "reset-password",
    summary: "Sets the password of an account and ends its sessions",
    options: { email: "the account", password: "the new password; left out, one is made up and printed" },
    async run({ config, db, options, print }) {
      const { email, password } = options;
      if (!email) {
        throw new AppError("invalid", "Say whose password to change: --email name@example.org");
      }
      const { hash } = createConfiguredPasswords(config, hashCost);
      await resetPassword({ db, email, password, hash, print });
    },
  };
}

/**
 * Sets an account's password from the command line, ends its sessions and switches it on again. Throws `not_found`
 * for an unknown address and `invalid` for a password that may not be chosen.
 */
export async function resetPassword({ db, email, password, hash, print }: ResetPassword): Promise<void> {
  const user = await findUserByEmail(db, email.trim());
  if (user === undefined) {
    throw new AppError("not_found", `There is no account with the address ${email}.`);
  }
  const chosen = password ?? createPassword();
  const encoded = await hash(chosen);
  await setPassword(db, user.id, encoded);
  await setActive(db, user.id, true);
  print(`The password of ${user.email} was changed and every session of the account has ended.`);
  if (password === undefined) {
    print(`New password: ${chosen}`);
  }
}

/** 24 random characters that hold a letter of each case, a digit and a sign, for installations that ask for those. */
function createPassword(): string {
  return `${randomBytes(15).toString("base64url")}-aA1`;
}
