import type { AccountsDeps } from "../deps.ts";
import { addMembers, findGroupIds, listGroups, removeMembers } from "../groups/groups-store.ts";
import type { SignUp } from "./sign-up.ts";
import { type StartedSession, startSession } from "../sessions/sessions.ts";
import type { AccountsDatabase } from "../tables.ts";
import type { TrustedIdentity } from "./trusted-header.ts";
import {
  bumpSessionStamp,
  findPrimaryAdmin,
  findUserByEmail,
  updateUser,
  type UserRow,
} from "../users/users-store.ts";

/**
 * Creates the function that signs in the person that a trusted proxy names. An unknown address gets an account; the role
 * and the groups that the proxy names become the account's at each sign-in (appendix A6, trusted header).
 */
export function createTrustedHeaderSignIn(
  deps: AccountsDeps,
  signUp: Pick<SignUp, "addTrusted">,
): (identity: TrustedIdentity) => Promise<StartedSession> {
  const { db, emit } = deps;
  return async (identity) => {
    const user = (await findUserByEmail(db, identity.email)) ?? (await signUp.addTrusted(identity));
    await applyRole(deps, user, identity);
    await applyGroups(deps, user, identity.groups);
    const session = await startSession(deps, { id: user.id }, "trusted_header");
    emit("auth.login", { user_id: user.id });
    return session;
  };
}

/** A change of role ends the sessions there are; the primary administrator stays one (contract 1.3). */
async function applyRole(
  { transaction, changes, emit }: AccountsDeps,
  { id }: UserRow,
  { role }: TrustedIdentity,
): Promise<void> {
  if (role === undefined) {
    return;
  }
  const before = await transaction(async (tx) => {
    const user = await tx
      .selectFrom("user")
      .select("role")
      .where("id", "=", id)
      .forUpdate()
      .executeTakeFirst();
    if (user === undefined || user.role === role || (await findPrimaryAdmin(tx))?.id === id) {
      return undefined;
    }
    await updateUser(tx, id, { role });
    await bumpSessionStamp(tx, id);
    return user.role;
  });
  if (before !== undefined) {
    await changes.announce({ userId: id });
    emit("user.role_updated", { user_id: id, from: before, to: role, by: id });
  }
}

/** The account is in the groups of these names that exist, and in no others. */
async function applyGroups(
  { transaction, changes, emit }: AccountsDeps,
  { id }: UserRow,
  names: readonly string[] | undefined,
): Promise<void> {
  if (names === undefined) {
    return;
  }
  const { joined, left } = await transaction(async (tx) => await replaceGroups(tx, id, names));
  if (joined.length + left.length > 0) {
    await changes.announce({ userId: id });
  }
  joined.forEach((group) => emit("group.member_added", { group_id: group, user_ids: [id], by: id }));
  left.forEach((group) => emit("group.member_removed", { group_id: group, user_ids: [id], by: id }));
}

async function replaceGroups(
  tx: AccountsDatabase,
  userId: string,
  names: readonly string[],
): Promise<{ joined: string[]; left: string[] }> {
  const wanted = new Set(await findGroupIds(tx, names));
  const held = new Set((await listGroups(tx, { memberId: userId })).map((group) => group.id));
  const joined = [...wanted].filter((id) => !held.has(id));
  const left = [...held].filter((id) => !wanted.has(id));
  for (const id of joined) {
    await addMembers(tx, id, [userId]);
  }
  for (const id of left) {
    await removeMembers(tx, id, [userId]);
  }
  return { joined, left };
}
