import { sql } from "kysely";
import { seconds } from "#storage/clock.ts";
import type { AccountsDeps } from "../deps.ts";
import type { AccountsDatabase } from "../tables.ts";
import { createUser, hasUsers, type NewUser, type UserRow } from "../users/users-store.ts";

/**
 * Says, inside a transaction, whether the account it is about to create is the first one. While there is none, one
 * transaction at a time gets past this, so that any number of simultaneous first sign-ups make one admin (D.6).
 */
export async function isFirstAccount(tx: AccountsDatabase): Promise<boolean> {
  if (await hasUsers(tx)) {
    return false;
  }
  await sql`select pg_advisory_xact_lock(hashtextextended('accounts.first', 0))`.execute(tx);
  return !(await hasUsers(tx));
}

/**
 * The first account, dated a second back: the oldest admin is the primary one, and times count whole seconds, so an
 * admin added within the same second could be taken for it.
 */
export function toFirstAccount(account: NewUser): NewUser {
  return { ...account, role: "admin", more: { ...account.more, created_at: seconds() - 1 } };
}

export interface BootstrapOptions extends Pick<
  AccountsDeps,
  "db" | "transaction" | "config" | "passwords" | "log"
> {
  /** Switches ENABLE_SIGNUP off. */
  closeSignUp(): Promise<void>;
  /** Whether each start finds sign-up open again: settings are not stored, and the environment does not say. */
  readonly opensAgain: boolean;
}

/**
 * Creates the admin of WEBUI_ADMIN_EMAIL and WEBUI_ADMIN_PASSWORD while no account exists, then switches sign-up off
 * (configuration document, authentication). Throws when the password is not acceptable: the start must not go on.
 */
export async function createConfiguredAdmin(options: BootstrapOptions): Promise<UserRow | undefined> {
  const { db, transaction, config, passwords, log } = options;
  if (config.adminEmail === "" || config.adminPassword === "") {
    if (config.adminEmail !== config.adminPassword) {
      log.warn("no admin is configured: WEBUI_ADMIN_EMAIL and WEBUI_ADMIN_PASSWORD are needed together");
    }
    return undefined;
  }
  if (await hasUsers(db)) {
    if (options.opensAgain) {
      await options.closeSignUp();
    }
    return undefined;
  }
  const account: NewUser = {
    email: config.adminEmail.trim(),
    name: config.adminName,
    role: "admin",
    passwordHash: await passwords.hash(config.adminPassword),
  };
  // Closed first: a start that ends between the two steps must not leave sign-up open behind an admin.
  await options.closeSignUp();
  // Replicas that start together all come here; the others find the first one's account.
  const user = await transaction(async (tx) =>
    (await isFirstAccount(tx)) ? await createUser(tx, toFirstAccount(account)) : undefined,
  );
  if (user !== undefined) {
    log.info({ email: user.email }, "created the configured admin account; sign-up is switched off");
  }
  return user;
}
