import type { Role } from "#kernel/access/principal.ts";
import { AppError } from "#kernel/errors.ts";
import type { AddForm, SignUpForm } from "./auth-schema.ts";
import type { AccountsConfig } from "../config.ts";
import type { AccountsDeps } from "../deps.ts";
import { isFirstAccount, toFirstAccount } from "./first-admin.ts";
import { requireProfileImage, toAllowedPicture } from "../users/profile-image.ts";
import { concludeSignIn, type SignInResult } from "../sessions/sessions.ts";
import type { AccountsDatabase } from "../tables.ts";
import type { OutsideIdentity } from "../service.ts";
import { createUser, findUserByEmail, hasUsers, type NewUser, type UserRow } from "../users/users-store.ts";

/** Ways in which accounts come into being. */
export interface SignUp {
  /**
   * Creates an account for whoever asks; `address` is where the request comes from. Throws `forbidden` when that is off,
   * `limit` after too many from there, `conflict` for a taken e-mail address.
   */
  signUp(form: SignUpForm, address: string): Promise<SignInResult>;
  /** Creates an account on behalf of the admin `by`; no session begins. Throws `conflict` for a taken address. */
  add(form: AddForm, by: string): Promise<UserRow>;
  /** Creates the account of a person that a trusted proxy names, whether sign-up is open or not. */
  addTrusted(identity: {
    readonly email: string;
    readonly name?: string | undefined;
    readonly role?: Role | undefined;
    readonly link?: OutsideIdentity["link"];
    readonly picture?: string | undefined;
  }): Promise<UserRow>;
}

/** Creates the functions behind the sign-up and add routes (Core API, misc; contract D.6). */
export function createSignUp(deps: AccountsDeps): SignUp {
  const { db, transaction, config, passwords, throttle, emit, images, record } = deps;
  const prepare = async (form: Omit<SignUpForm, "password"> & Pick<AddForm, "password">) => ({
    email: form.email,
    name: form.name,
    profileImageUrl: requireProfileImage(form.profile_image_url, images),
    passwordHash: await (form.password === null ? passwords.unusable() : passwords.hash(form.password)),
  });
  const store = async (
    account: Omit<NewUser, "role">,
    choose: (isFirst: boolean) => Role,
    also?: (tx: AccountsDatabase, user: UserRow) => Promise<void>,
  ) =>
    await transaction(async (tx) => {
      const isFirst = await isFirstAccount(tx);
      const chosen = { ...account, role: choose(isFirst) };
      const user = await createUser(tx, isFirst ? toFirstAccount(chosen) : chosen);
      if (user === undefined) {
        throw new AppError("conflict", "This e-mail address is taken.");
      }
      await joinDefaultGroup(tx, user, config.defaultGroup);
      await also?.(tx, user);
      return user;
    });

  return {
    async signUp(form, address) {
      requireSignUp(config, !(await hasUsers(db)));
      await throttle.enter([`signup:${address}`]);
      const account = await prepare(form);
      const user = await store(account, (isFirst) => {
        // Asked again: the first account may have come into being while the password was hashed.
        requireSignUp(config, isFirst);
        return isFirst ? "admin" : config.defaultRole;
      });
      emit("auth.signup", { user_id: user.id });
      return await concludeSignIn({ ...deps, emit: () => {} }, { id: user.id }, "password");
    },
    async add(form, by) {
      const mustChange = form.password !== null && form.change_password;
      const user = await store(
        { ...(await prepare(form)), mustChange },
        () => form.role,
        (tx, created) => record({ action: "user.created", ...toAudited(created), by }, tx),
      );
      emit("user.created", { user_id: user.id, by });
      return user;
    },
    async addTrusted({ email, name = email, role, link, picture }) {
      const account = {
        email,
        name,
        profileImageUrl: toAllowedPicture(picture, images) ?? "/user.png",
        passwordHash: await passwords.unknown(),
        more: link && { oauth: { [link.provider]: { sub: link.subject } } },
      };
      try {
        const user = await store(account, (isFirst) => (isFirst ? "admin" : (role ?? config.defaultRole)));
        emit("auth.signup", { user_id: user.id });
        return user;
      } catch (error) {
        // Another first sign-in with this address was quicker.
        const known = isTaken(error) ? await findUserByEmail(db, email) : undefined;
        if (known === undefined) {
          throw error;
        }
        return known;
      }
    },
  };
}

/**
 * While sign-up, the login form or password sign-in is off, only the first account may be created, and only when
 * ENABLE_INITIAL_ADMIN_SIGNUP allows it.
 */
function requireSignUp(config: AccountsConfig, isFirst: boolean): void {
  const isOpen = config.auth && config.signUp && config.loginForm && config.passwordAuth;
  if (!isOpen && !(config.auth && isFirst && config.initialAdminSignUp)) {
    throw new AppError("forbidden", "Sign-up is switched off. Ask an administrator for an account.");
  }
}

/** Puts a new account into DEFAULT_GROUP_ID; a group that was deleted meanwhile is none. */
export async function joinDefaultGroup(tx: AccountsDatabase, user: UserRow, groupId: string): Promise<void> {
  if (groupId === "") {
    return;
  }
  await tx
    .insertInto("group_member")
    .columns(["group_id", "user_id", "created_at"])
    .expression((eb) =>
      eb
        .selectFrom("group")
        .select((row) => [
          "group.id",
          row.val(user.id).as("user_id"),
          row.val(user.created_at).as("created_at"),
        ])
        .where("group.id", "=", groupId),
    )
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

function toAudited({ id, name, email, role }: UserRow) {
  return { object: { type: "user", id, name }, after: { name, email, role } };
}

function isTaken(error: unknown): boolean {
  return error instanceof AppError && error.code === "conflict";
}
