import { type Insertable, type Selectable, sql, type Updateable } from "kysely";
import type { Role } from "#kernel/access/principal.ts";
import { seconds } from "#storage/clock.ts";
import type { CoreTables } from "#storage/core-tables.ts";
import { notifyWith } from "#storage/notify.ts";
import { accountsChannel } from "../account-changes.ts";
import type { AccountsDatabase } from "../tables.ts";

// Queries over `user` and `auth` alone. Each takes the database or the transaction it runs in. What a principal is
// made of is announced to all processes with the commit; who made the change also calls `announce` afterwards, so
// that this process has forgotten the old state before it answers.

/** An account without what only single routes read, which may be long, and without the stamp of its sessions. */
export type UserRow = Omit<
  Selectable<CoreTables["user"]>,
  "profile_image_url" | "settings" | "variables" | "session_stamp" | "is_bot"
>;
export type UserChanges = Omit<Updateable<CoreTables["user"]>, "id" | "email" | "created_at" | "is_bot">;

export interface NewUser {
  readonly email: string;
  readonly name: string;
  readonly role: Role;
  /** Encoded by `Passwords.hash`. */
  readonly passwordHash: string;
  /** True when somebody else knows the password. */
  readonly mustChange?: boolean;
  readonly profileImageUrl?: string;
  /** Further columns, e.g. `scim` or `oauth`. */
  readonly more?: Partial<Insertable<CoreTables["user"]>>;
}

/** The columns of a UserRow. */
export const userColumns = [
  "user.id",
  "user.email",
  "user.username",
  "user.role",
  "user.name",
  "user.profile_banner_image_url",
  "user.bio",
  "user.gender",
  "user.date_of_birth",
  "user.timezone",
  "user.presence_state",
  "user.status_emoji",
  "user.status_message",
  "user.status_expires_at",
  "user.info",
  "user.oauth",
  "user.scim",
  "user.last_active_at",
  "user.updated_at",
  "user.created_at",
] as const;

/** The part of an account that signing in checks. */
export interface SignInFacts {
  readonly user: UserRow;
  readonly passwordHash: string;
  readonly active: boolean;
  readonly stamp: string;
  /** True while an administrator knows the password; the person chooses another one at the next sign-in. */
  readonly mustChange: boolean;
}

/** `last_active_at` of an account that has not signed in. */
const neverSeen = 0;

/** Stores an account and how it signs in; undefined when its address is taken. Run it in a transaction. */
export async function createUser(db: AccountsDatabase, account: NewUser): Promise<UserRow | undefined> {
  const id = crypto.randomUUID();
  const now = seconds();
  const row = {
    id,
    email: account.email.toLowerCase(),
    name: account.name,
    role: account.role,
    profile_image_url: account.profileImageUrl ?? "/user.png",
    last_active_at: neverSeen,
    created_at: now,
    updated_at: now,
    session_stamp: newStamp(),
    ...account.more,
  };
  const user = await db
    .insertInto("user")
    .values(row)
    .onConflict((conflict) => conflict.column("email").doNothing())
    .returning(userColumns)
    .executeTakeFirst();
  if (user === undefined) {
    return undefined;
  }
  await db
    .insertInto("auth")
    .values({
      id,
      email: row.email,
      password: account.passwordHash,
      active: true,
      must_change: account.mustChange ?? false,
    })
    .execute();
  return user;
}

/** The account with this id. */
export async function findUser(db: AccountsDatabase, id: string): Promise<UserRow | undefined> {
  return await db.selectFrom("user").select(userColumns).where("id", "=", id).executeTakeFirst();
}

/** The stored picture of an account, whole; undefined when there is no such account. */
export async function findPicture(db: AccountsDatabase, id: string): Promise<string | null | undefined> {
  const query = db.selectFrom("user").select("profile_image_url").where("id", "=", id);
  return (await query.executeTakeFirst())?.profile_image_url;
}

/** The accounts that exist among `ids`, those of bots included. */
export async function findUsers(
  db: AccountsDatabase,
  ids: readonly string[],
): Promise<(UserRow & { is_bot: boolean })[]> {
  return ids.length === 0
    ? []
    : await db.selectFrom("user").select(userColumns).select("is_bot").where("id", "in", ids).execute();
}

/** The account with this address, whatever the letter case. */
export async function findUserByEmail(db: AccountsDatabase, email: string): Promise<UserRow | undefined> {
  return await db
    .selectFrom("user")
    .select(userColumns)
    .where("email", "=", email.toLowerCase())
    .where("is_bot", "=", false)
    .executeTakeFirst();
}

/** The oldest account: it stays admin and cannot be deleted (contract 1.3). */
export async function findPrimaryAdmin(db: AccountsDatabase): Promise<UserRow | undefined> {
  return await db
    .selectFrom("user")
    .select(userColumns)
    .where("role", "=", "admin")
    .orderBy("created_at")
    .orderBy("id")
    .limit(1)
    .executeTakeFirst();
}

/** Waits for changes that take somebody's role of administrator: two at the same time must not each count on the other. */
export async function lockAdministrators(tx: AccountsDatabase): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended('accounts.administrators', 0))`.execute(tx);
}

/** Changes columns of an account; undefined when it is gone. */
export async function updateUser(
  db: AccountsDatabase,
  id: string,
  changes: UserChanges,
): Promise<UserRow | undefined> {
  const user = await db
    .updateTable("user")
    .set({ ...changes, updated_at: seconds() })
    .where("id", "=", id)
    .returning(userColumns)
    .executeTakeFirst();
  await tell(db, id);
  return user;
}

/** Changes the address in both records; false when another account has it. Run it in a transaction. */
export async function updateEmail(db: AccountsDatabase, id: string, email: string): Promise<boolean> {
  const address = email.toLowerCase();
  const taken = await db
    .selectFrom("user")
    .select("id")
    .where("email", "=", address)
    .where("id", "!=", id)
    .executeTakeFirst();
  if (taken !== undefined) {
    return false;
  }
  await db.updateTable("user").set({ email: address, updated_at: seconds() }).where("id", "=", id).execute();
  await db.updateTable("auth").set({ email: address }).where("id", "=", id).execute();
  await tell(db, id);
  return true;
}

/** Deletes an account; its sign-in record, key and memberships go with it. False when there was none. */
export async function deleteUser(db: AccountsDatabase, id: string): Promise<boolean> {
  const gone = await db.deleteFrom("user").where("id", "=", id).returning("id").executeTakeFirst();
  await tell(db, id);
  return gone !== undefined;
}

/** How many people have an account. */
export async function countUsers(db: AccountsDatabase): Promise<number> {
  const { count } = await db
    .selectFrom("user")
    .where("is_bot", "=", false)
    .select((eb) => eb.fn.countAll<number | bigint | string>().as("count"))
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** Whether there is any account; cheaper than counting. */
export async function hasUsers(db: AccountsDatabase): Promise<boolean> {
  const row = await db.selectFrom("user").select("id").limit(1).executeTakeFirst();
  return row !== undefined;
}

/** How the account with this address signs in. */
export async function findSignIn(
  db: AccountsDatabase,
  by: { email: string } | { id: string },
): Promise<SignInFacts | undefined> {
  // One statement whether the account exists or not: how long it takes must not tell.
  const row = await db
    .selectFrom("user")
    .innerJoin("auth", "auth.id", "user.id")
    .select(userColumns)
    .select(["auth.password", "auth.active", "auth.must_change", "user.session_stamp"])
    .where("id" in by ? "user.id" : "user.email", "=", "id" in by ? by.id : by.email.toLowerCase())
    .executeTakeFirst();
  if (row === undefined) {
    return undefined;
  }
  const { password: passwordHash, active, must_change: mustChange, session_stamp: stamp, ...user } = row;
  return { user, passwordHash, active, stamp, mustChange };
}

/** Sets a new password, ends all sessions and takes back a link to choose one; resolves to the new stamp, undefined when the account is gone. */
export async function setPassword(
  db: AccountsDatabase,
  id: string,
  passwordHash: string,
): Promise<string | undefined> {
  await db
    .updateTable("auth")
    .set({ password: passwordHash, must_change: false })
    .where("id", "=", id)
    .execute();
  await db.deleteFrom("account_invitation").where("user_id", "=", id).execute();
  return await bumpSessionStamp(db, id);
}

/** The same by who knows the current password; undefined when that is no longer the one with the hash `from`. */
export async function replacePassword(
  db: AccountsDatabase,
  id: string,
  { from, to }: { from: string; to: string },
): Promise<string | undefined> {
  const row = await db
    .updateTable("auth")
    .set({ password: to, must_change: false })
    .where("id", "=", id)
    .where("password", "=", from)
    .returning("id")
    .executeTakeFirst();
  if (row === undefined) {
    return undefined;
  }
  await db.deleteFrom("account_invitation").where("user_id", "=", id).execute();
  return await bumpSessionStamp(db, id);
}

/** Ends all sessions of an account (role change, password change, deactivation); resolves to the new stamp. */
export async function bumpSessionStamp(db: AccountsDatabase, id: string): Promise<string | undefined> {
  const row = await db
    .updateTable("user")
    .set({ session_stamp: newStamp() })
    .where("id", "=", id)
    .returning("session_stamp")
    .executeTakeFirst();
  await tell(db, id);
  return row?.session_stamp;
}

/** Switches an account off (nothing it holds is accepted any more) or on again; ends all its sessions. */
export async function setActive(
  db: AccountsDatabase,
  id: string,
  active: boolean,
): Promise<string | undefined> {
  await db.updateTable("auth").set({ active }).where("id", "=", id).execute();
  return await bumpSessionStamp(db, id);
}

async function tell(db: AccountsDatabase, userId: string): Promise<void> {
  await notifyWith(db, accountsChannel, { userId });
}

function newStamp(): string {
  return crypto.randomUUID();
}
