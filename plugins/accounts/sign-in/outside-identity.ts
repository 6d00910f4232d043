import type { Role } from "#kernel/access/principal.ts";
import type { AccountsDeps } from "../deps.ts";
import {
  addMembers,
  findGroupIds,
  findKnownNames,
  insertGroup,
  listGroups,
  removeMembers,
} from "../groups/groups-store.ts";
import type { AccountsDatabase } from "../tables.ts";
import type { ShareRule } from "../users/user-schema.ts";
import { bumpSessionStamp, findPrimaryAdmin, updateUser, type UserRow } from "../users/users-store.ts";

// Proxies and directories say at each sign-in which role and groups a person has.

/** A change of role ends the sessions there are; the primary administrator stays one (contract 1.3). */
export async function applyRole(
  { transaction, changes, emit }: AccountsDeps,
  { id }: Pick<UserRow, "id">,
  role: Role | undefined,
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

/** Groups that a person is said to be in, by name. */
export interface SaidGroups {
  readonly names: readonly string[];
  /** Makes groups that do not exist yet, with this rule of sharing; left out, their names are passed over. */
  readonly create?: { readonly share: ShareRule } | undefined;
  /** Groups that are left as they are, whether the person is in them or not. */
  readonly isBlocked?: ((name: string) => boolean) | undefined;
}

/** The account is in the groups of these names, and in no others. */
export async function applyGroups(
  { transaction, changes, emit }: AccountsDeps,
  { id }: Pick<UserRow, "id">,
  said: SaidGroups | undefined,
): Promise<void> {
  if (said === undefined) {
    return;
  }
  const { made, joined, left } = await transaction(async (tx) => await replaceGroups(tx, id, said));
  if (joined.length + left.length > 0) {
    await changes.announce({ userId: id });
  }
  made.forEach((group) => emit("group.created", { group_id: group.id, name: group.name, by: id }));
  joined.forEach((group) => emit("group.member_added", { group_id: group, user_ids: [id], by: id }));
  left.forEach((group) => emit("group.member_removed", { group_id: group, user_ids: [id], by: id }));
}

async function replaceGroups(tx: AccountsDatabase, userId: string, said: SaidGroups) {
  const { create, isBlocked = () => false } = said;
  const names = said.names.filter((name) => !isBlocked(name));
  const made = create === undefined ? [] : await makeMissing(tx, userId, { names, share: create.share });
  const wanted = new Set(await findGroupIds(tx, names));
  const mine = await listGroups(tx, { memberId: userId });
  const held = new Set(mine.filter(({ name }) => !isBlocked(name)).map((group) => group.id));
  const joined = [...wanted].filter((id) => !held.has(id));
  const left = [...held].filter((id) => !wanted.has(id));
  for (const id of joined) {
    await addMembers(tx, id, [userId]);
  }
  for (const id of left) {
    await removeMembers(tx, id, [userId]);
  }
  return { made, joined, left };
}

async function makeMissing(
  tx: AccountsDatabase,
  userId: string,
  { names, share }: { names: readonly string[]; share: ShareRule },
): Promise<{ id: string; name: string }[]> {
  const known = new Set(await findKnownNames(tx, names));
  const made: { id: string; name: string }[] = [];
  for (const name of new Set(names.filter((each) => !known.has(each)))) {
    made.push(await insertGroup(tx, { userId, name, description: "", permissions: null, share }));
  }
  return made;
}
