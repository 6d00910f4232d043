import type { Principal } from "#kernel/access/principal.ts";
import { AppError } from "#kernel/errors.ts";
import type { PasswordForm, ProfileForm } from "./auth-schema.ts";
import type { AccountsDeps } from "../deps.ts";
import { requireProfileImage } from "../users/profile-image.ts";
import { findProofs } from "../sessions/sessions-store.ts";
import { type StartedSession, startSession } from "../sessions/sessions.ts";
import { trustsHeaders } from "./trusted-header.ts";
import { profileImagePath } from "../users/user-records.ts";
import {
  findPrimaryAdmin,
  findSignIn,
  findUser,
  findUserByEmail,
  replacePassword,
  updateUser,
  type UserRow,
} from "../users/users-store.ts";

/** Changes of the caller's own account. */
export interface OwnAccount {
  /** The caller's row. Throws `unauthenticated` when the account was deleted a moment ago. */
  require(caller: Principal): Promise<UserRow>;
  updateProfile(caller: Principal, form: ProfileForm): Promise<UserRow>;
  /** Throws `invalid` for a time zone this system does not know. */
  updateTimezone(caller: Principal, timezone: string): Promise<void>;
  /**
   * Ends every session of the account; the one that asked gets a new one. Throws `invalid` for a wrong present
   * password or a new one that may not be chosen, and `limit` after too many wrong ones.
   */
  updatePassword(caller: Principal, form: PasswordForm): Promise<StartedSession>;
  /** The administrator to ask for activation. Throws `invalid` while SHOW_ADMIN_DETAILS is off. */
  contactAdmin(): Promise<{ name: string | null; email: string | null }>;
}

/** Creates the functions behind the account's own routes (contract 1.2). */
export function createOwnAccount(deps: AccountsDeps): OwnAccount {
  const { db, config, changes, emit, images } = deps;
  const change = async (caller: Principal, columns: Parameters<typeof updateUser>[2]) => {
    const user = requireOwnRow(await updateUser(db, caller.userId, columns));
    await changes.announce({ userId: user.id });
    return user;
  };
  return {
    require: async (caller) => requireOwnRow(await findUser(db, caller.userId)),
    async updateProfile(caller, { profile_image_url: image, ...columns }) {
      // Forms send the whole record back; the address under which the picture is answered is not the picture.
      const picture =
        image === profileImagePath(caller.userId)
          ? {}
          : { profile_image_url: requireProfileImage(image, images) };
      const user = await change(caller, { ...columns, ...picture });
      emit("user.profile_updated", { user_id: user.id });
      return user;
    },
    async updateTimezone(caller, timezone) {
      if (!isTimezone(timezone)) {
        throw new AppError("invalid", "This time zone is not known.");
      }
      await change(caller, { timezone });
    },
    updatePassword: (caller, form) => updatePassword(deps, caller, form),
    async contactAdmin() {
      if (!config.showAdmin) {
        throw new AppError("invalid", "The administrator's details are not shown.");
      }
      const address = config.contactEmail?.trim() || undefined;
      const admin = address === undefined ? await findPrimaryAdmin(db) : await findUserByEmail(db, address);
      return { name: admin?.name ?? null, email: address ?? admin?.email ?? null };
    },
  };
}

async function updatePassword(
  deps: AccountsDeps,
  caller: Principal,
  form: PasswordForm,
): Promise<StartedSession> {
  const { db, transaction, config, passwords, throttle, changes, emit } = deps;
  const isVerified = ((await findProofs(db, caller))?.factorAt ?? null) !== null;
  if (trustsHeaders(config)) {
    throw new AppError(
      "invalid",
      "Accounts of this installation sign in through its proxy and have no password.",
    );
  }
  const subjects = [`user:${caller.userId}`] as const;
  await throttle.enter(subjects);
  const account = await findSignIn(db, { id: caller.userId });
  if (account === undefined || !(await passwords.verify(form.password, account.passwordHash))) {
    throw wrongPassword();
  }
  await throttle.giveBack(subjects);
  const hash = await passwords.hash(form.new_password);
  const change = { from: account.passwordHash, to: hash };
  const stamp = await transaction(async (tx) => await replacePassword(tx, caller.userId, change));
  if (stamp === undefined) {
    throw wrongPassword();
  }
  await changes.announce({ userId: caller.userId });
  emit("auth.password_changed", { user_id: caller.userId });
  return await startSession(deps, { id: caller.userId, stamp }, { method: "password", isVerified });
}

function wrongPassword(): AppError {
  return new AppError("invalid", "The current password is wrong.");
}

function requireOwnRow(row: UserRow | undefined): UserRow {
  if (row === undefined) {
    throw new AppError("unauthenticated", "The account no longer exists.");
  }
  return row;
}

function isTimezone(name: string): boolean {
  try {
    return name !== "" && new Intl.DateTimeFormat("en", { timeZone: name }).resolvedOptions().timeZone !== "";
  } catch {
    return false;
  }
}
