import { AppError } from "#kernel/errors.ts";
import type { SignInForm } from "./auth-schema.ts";
import type { AccountsDeps } from "../deps.ts";
import { requireRow } from "../require-row.ts";
import { changeSeconds, invite } from "./invitations.ts";
import { isFirstAccount, toFirstAccount } from "./first-admin.ts";
import {
  concludeSignIn,
  type SignInResult,
  type StartedSession,
  startSession,
} from "../sessions/sessions.ts";
import { countUsers, createUser, findSignIn, findUserByEmail } from "../users/users-store.ts";

/** Address of the one account of a platform without accounts. */
export const localAdminEmail = "admin@localhost";

// The same words whether the account does not exist, is switched off or has another password.
const wrong = "The e-mail address or the password is not right.";

/** Creates the function behind the sign-in route; `address` is where the request comes from. */
export function createSignIn(
  deps: AccountsDeps,
): (form: SignInForm, address: string) => Promise<SignInResult> {
  const { db, config, passwords, throttle } = deps;

  return async (form, address) => {
    if (!config.auth) {
      return await signInLocalAdmin(deps);
    }
    if (!config.passwordAuth) {
      throw new AppError("forbidden", "Signing in with a password is switched off.");
    }
    const email = form.email.trim().toLowerCase();
    const subjects = [`email:${email}`, `address:${address}`] as const;
    await throttle.enter(subjects);
    const account = await findSignIn(db, { email });
    // Runs for unknown addresses too, so that the time taken does not tell which ones exist.
    const matches = await passwords.verify(form.password, account?.passwordHash);
    if (account === undefined || !matches || !account.active) {
      throw new AppError("invalid", wrong);
    }
    await throttle.giveBack(subjects);
    if (account.mustChange) {
      const [link] = await invite(db, [account.user.id], changeSeconds);
      return {
        step: { next_step: "password", invitation: requireRow(link).token, expires_in: changeSeconds },
      };
    }
    return await concludeSignIn(deps, { id: account.user.id, stamp: account.stamp }, "password");
  };
}

/** WEBUI_AUTH=false: everybody is the same admin, unless there are people's accounts to protect (contract 1.2). */
async function signInLocalAdmin(deps: AccountsDeps): Promise<StartedSession> {
  const { db, transaction, passwords } = deps;
  let user = await findUserByEmail(db, localAdminEmail);
  if (user === undefined) {
    // The account is of no use once sign-in is asked for again.
    const passwordHash = await passwords.unknown();
    const account = { email: localAdminEmail, name: "Admin", role: "admin", passwordHash } as const;
    user = await transaction(async (tx) =>
      (await isFirstAccount(tx))
        ? await createUser(tx, toFirstAccount(account))
        : await findUserByEmail(tx, localAdminEmail),
    );
  }
  if (user === undefined || (await countUsers(db)) > 1) {
    throw new AppError("invalid", "Accounts exist already, so WEBUI_AUTH cannot be switched off.");
  }
  return await startSession(deps, { id: user.id }, { method: "system", isVerified: false });
}
