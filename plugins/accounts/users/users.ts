import type { Principal, Role } from "#kernel/access/principal.ts";
import { AppError } from "#kernel/errors.ts";
import { isUniqueViolation } from "#storage/errors.ts";
import type { Audit } from "#plugins/audit/service.ts";
import type { AccountChanges } from "../account-changes.ts";
import { requireRow } from "../require-row.ts";
import type { Passwords } from "../passwords/passwords.ts";
import { type ProfileImageRules, requireProfileImage } from "./profile-image.ts";
import type { AccountsDatabase } from "../tables.ts";
import {
  profileImagePath,
  toUserInfo,
  toUserRecord,
  type UserInfo,
  type UserRecord,
} from "./user-records.ts";
import type { ListQuery, UserUpdate } from "./user-schema.ts";
import {
  listAllUsers,
  listGroups,
  listShownSettings,
  listUsers,
  type ShownSettings,
} from "./users-directory.ts";
import {
  bumpSessionStamp,
  deleteUser,
  findPicture,
  findPrimaryAdmin,
  findUser,
  lockAdministrators,
  setActive,
  setPassword,
  updateEmail,
  updateUser,
  type UserChanges,
  userColumns,
  type UserRow,
} from "./users-store.ts";

/** Dependencies of the account logic. */
export interface UsersOptions {
  readonly db: AccountsDatabase;
  transaction<R>(run: (tx: AccountsDatabase) => Promise<R>): Promise<R>;
  readonly passwords: Passwords;
  readonly changes: AccountChanges;
  readonly images: ProfileImageRules;
  /** Keeps what administrators do. */
  readonly record: Audit["record"];
  /** Removes what grants give to an account, in the transaction that deletes it. */
  forgetGrants(tx: AccountsDatabase, userId: string): Promise<void>;
  /** Announces a system event (appendix A10). */
  emit(event: string, data: Record<string, unknown>): void;
}

export type UserPage<T> = { users: T[]; total: number };

type Listed = UserRecord & { groups: { id: string; name: string }[]; group_ids: string[] };

/** Accounts as administrators and members see and change them (contract 1.3). */
export interface Users {
  /** With each account's interface settings. */
  list(query: ListQuery): Promise<UserPage<Listed & { settings: ShownSettings }>>;
  all(): Promise<UserPage<Listed>>;
  search(query: ListQuery): Promise<UserPage<UserInfo>>;
  /** Throws `not_found`. */
  require(id: string): Promise<UserRow>;
  /** The stored picture. Throws `not_found`. */
  picture(id: string): Promise<string | null>;
  update(caller: Principal, id: string, changes: UserUpdate): Promise<UserRecord>;
  remove(caller: Principal, id: string): Promise<void>;
}

/** Creates the account logic. */
export function createUsers(options: UsersOptions): Users {
  const { db } = options;
  const withGroups = async (rows: UserRow[]) => {
    const found = await listGroups(
      db,
      rows.map((row) => row.id),
    );
    return rows.map((row) => {
      const groups = found.get(row.id) ?? [];
      return { ...toUserRecord(row), groups, group_ids: groups.map(({ id }) => id) };
    });
  };
  return {
    async list(query) {
      const { rows, total } = await listUsers(db, query);
      const settings = await listShownSettings(
        db,
        rows.map((row) => row.id),
      );
      const users = (await withGroups(rows)).map((user) => ({
        ...user,
        settings: settings.get(user.id) ?? null,
      }));
      return { users, total };
    },
    async all() {
      const rows = await listAllUsers(db);
      return { users: await withGroups(rows), total: rows.length };
    },
    async search(query) {
      const { rows, total } = await listUsers(db, query);
      return { users: rows.map(toUserInfo), total };
    },
    require: async (id) => requireRow(await findUser(db, id)),
    async picture(id) {
      const picture = await findPicture(db, id);
      return picture === null ? null : requireRow(picture);
    },
    update: (caller, id, changes) => update(options, { caller, id, changes }),
    remove: (caller, id) => remove(options, { caller, id }),
  };
}

async function update(
  options: UsersOptions,
  { caller, id, changes }: { caller: Principal; id: string; changes: UserUpdate },
): Promise<UserRecord> {
  // Hashing takes a while and needs no connection, so it is done before the transaction.
  const hash = changes.password ? await options.passwords.hash(changes.password) : undefined;
  const columns = toColumns(id, changes, options.images);
  const run = options.transaction(async (tx) => {
    const before = await lockEditable(tx, { caller, id, role: changes.role });
    if (changes.email !== undefined && !(await updateEmail(tx, id, changes.email))) {
      throw addressTaken();
    }
    if (hash !== undefined) {
      await setPassword(tx, id, hash);
    }
    if (columns.role !== undefined && columns.role !== before.role) {
      await endSessions(tx, { id, wakes: before.role === "pending" });
    }
    const after = requireRow(await updateUser(tx, id, columns));
    await recordUpdate(options, tx, { before, after, by: caller.userId, password: hash !== undefined });
    return { before, after };
  });
  const { before, after } = await run.catch((error: unknown) => {
    // Somebody else took the address between the look and the change.
    throw isUniqueViolation(error) === undefined ? error : addressTaken();
  });
  await options.changes.announce({ userId: id });
  emitUpdate(options, { before, after, by: caller.userId, password: hash !== undefined });
  return toUserRecord(after);
}

async function remove(
  options: UsersOptions,
  { caller, id }: { caller: Principal; id: string },
): Promise<void> {
  if (caller.userId === id) {
    throw new AppError("forbidden", "You cannot delete your own account.");
  }
  const user = await options.transaction(async (tx) => {
    const user = requireRow(await lock(tx, id));
    if ((await findPrimaryAdmin(tx))?.id === id) {
      throw new AppError("forbidden", "The primary administrator cannot be deleted.");
    }
    await options.forgetGrants(tx, id);
    // Sign-in record, key and memberships refer to the account and go with it.
    await deleteUser(tx, id);
    const before = toAudited(user);
    await options.record({ action: "user.deleted", object: toObject(user), before, by: caller.userId }, tx);
    return user;
  });
  await options.changes.announce({ userId: id });
  options.emit("user.deleted", { user_id: id, name: user.name, email: user.email, by: caller.userId });
}

/** Locks the account for a change by `caller`. The primary admin is theirs alone to edit, and stays admin. */
async function lockEditable(
  tx: AccountsDatabase,
  { caller, id, role }: { caller: Principal; id: string; role: Role | undefined },
): Promise<UserRow> {
  if (role !== undefined && role !== "admin") {
    await lockAdministrators(tx);
  }
  const user = requireRow(await lock(tx, id));
  if ((await findPrimaryAdmin(tx))?.id === id) {
    if (caller.userId !== id) {
      throw new AppError("forbidden", "Only the primary administrator may change this account.");
    }
    if (role !== undefined && role !== "admin") {
      throw new AppError("forbidden", "The primary administrator stays an administrator.");
    }
  }
  return user;
}

async function lock(tx: AccountsDatabase, id: string): Promise<UserRow | undefined> {
  return await tx
    .selectFrom("user")
    .select(userColumns)
    .where("id", "=", id)
    // The account of a bot changes and goes with its app alone.
    .where("is_bot", "=", false)
    .forUpdate()
    .executeTakeFirst();
}

/** A role change ends all sessions; an account that leaves `pending` may sign in again, whoever switched it off. */
async function endSessions(
  tx: AccountsDatabase,
  { id, wakes }: { id: string; wakes: boolean },
): Promise<void> {
  await (wakes ? setActive(tx, id, true) : bumpSessionStamp(tx, id));
}

function toColumns(id: string, changes: UserUpdate, images: ProfileImageRules): UserChanges {
  const { role, name, profile_image_url: image } = changes;
  // Forms send the whole record back; the address under which the picture is answered is not the picture.
  const picture =
    image === undefined || image === profileImagePath(id) ? undefined : requireProfileImage(image, images);
  return {
    ...(role !== undefined && { role }),
    ...(name !== undefined && { name }),
    ...(picture !== undefined && { profile_image_url: picture }),
  };
}

function addressTaken(): AppError {
  return new AppError("conflict", "This e-mail address belongs to another account.");
}

interface Update {
  before: UserRow;
  after: UserRow;
  by: string;
  password: boolean;
}

async function recordUpdate(
  { record }: UsersOptions,
  tx: AccountsDatabase,
  { before, after, by, password }: Update,
): Promise<void> {
  await record(
    {
      action: "user.updated",
      object: toObject(after),
      before: toAudited(before),
      // The hash is a secret; that it was replaced is not.
      after: { ...toAudited(after), ...(password && { password_changed: true }) },
      by,
    },
    tx,
  );
}

function toObject({ id, name }: UserRow) {
  return { type: "user", id, name };
}

function toAudited({ name, email, role }: UserRow) {
  return { name, email, role };
}

function emitUpdate({ emit }: UsersOptions, { before, after, by, password }: Update): void {
  emit("user.updated", { user_id: after.id, by });
  if (before.role !== after.role) {
    emit("user.role_updated", { user_id: after.id, from: before.role, to: after.role, by });
  }
  if (password) {
    emit("auth.password_changed", { user_id: after.id, by });
  }
}
