import type { Principal } from "#kernel/access/principal.ts";
import { AppError } from "#kernel/errors.ts";
import type { Audit } from "#plugins/audit/service.ts";
import type { AccountChanges } from "../account-changes.ts";
import { requireRow } from "../require-row.ts";
import { type GroupInfo, type GroupRecord, toGroupInfo, toGroupRecord } from "./group-records.ts";
import {
  addMembers,
  deleteGroup,
  findGroupByName,
  type GroupRow,
  type GroupScope,
  insertGroup,
  listGroups,
  listMemberIds,
  listMembers,
  removeMembers,
  updateGroup,
} from "./groups-store.ts";
import type { AccountsDatabase } from "../tables.ts";
import { toUserInfo, type UserInfo } from "../users/user-records.ts";
import type { GroupForm, GroupUpdate, ShareRule } from "../users/user-schema.ts";
import { findUsers } from "../users/users-store.ts";

export interface GroupsOptions {
  readonly db: AccountsDatabase;
  transaction<R>(run: (tx: AccountsDatabase) => Promise<R>): Promise<R>;
  readonly changes: AccountChanges;
  /** DEFAULT_GROUP_SHARE_PERMISSION. */
  defaultShare(): ShareRule;
  /** Removes what grants give to a group, in the transaction that deletes it. */
  forgetGrants(tx: AccountsDatabase, groupId: string): Promise<void>;
  /** Keeps what administrators do. */
  readonly record: Audit["record"];
  /** Announces a system event (appendix A10). */
  emit(event: string, data: Record<string, unknown>): void;
}

/** Groups, their members and who may share with them (contract 1.5). */
export interface Groups {
  /** Admins get every group. Others get theirs and those they may share with; `share` narrows it down to one kind. */
  list(caller: Principal, share?: boolean): Promise<(GroupInfo | GroupRecord)[]>;
  /** The groups an account belongs to. */
  ofUser(userId: string): Promise<GroupInfo[]>;
  /** Those of them that the caller may know of: admins know of all, and everybody of their own. */
  ofUserSeenBy(caller: Principal, userId: string): Promise<GroupInfo[]>;
  /** Throws `not_found`. */
  require(id: string): Promise<GroupRecord>;
  /** Throws `not_found` also for a group the caller may not know of. */
  info(caller: Principal, id: string): Promise<GroupInfo>;
  /** The group with the ids of its members. */
  export(id: string): Promise<GroupRecord & { user_ids: string[] }>;
  members(id: string): Promise<UserInfo[]>;
  create(caller: Principal, form: GroupForm): Promise<GroupRecord>;
  update(caller: Principal, id: string, changes: GroupUpdate): Promise<GroupRecord>;
  /** Throws `invalid` naming accounts that do not exist; nobody is added then. */
  addMembers(caller: Principal, id: string, userIds: readonly string[]): Promise<GroupRecord>;
  removeMembers(caller: Principal, id: string, userIds: readonly string[]): Promise<GroupRecord>;
  remove(caller: Principal, id: string): Promise<void>;
}

/** Creates the group logic. Every change that touches what members may do is announced before it is answered. */
export function createGroups(options: GroupsOptions): Groups {
  const { db } = options;
  const require = async (id: string) =>
    toGroupRecord(requireRow((await listGroups(db, { all: true }, id))[0]));
  return {
    async list(caller, share) {
      const rows = await listGroups(db, toScope(caller, share));
      return rows.map((row) => (caller.role === "admin" ? toGroupRecord(row) : toGroupInfo(row)));
    },
    ofUser: async (userId) => (await listGroups(db, { memberId: userId })).map(toGroupInfo),
    async ofUserSeenBy(caller, userId) {
      const knowsAll = caller.role === "admin" || caller.userId === userId;
      const scope = knowsAll ? { memberId: userId } : { memberId: userId, visibleTo: caller.userId };
      return (await listGroups(db, scope)).map(toGroupInfo);
    },
    require,
    async info(caller, id) {
      const scope: GroupScope = caller.role === "admin" ? { all: true } : { visibleTo: caller.userId };
      return toGroupInfo(requireRow((await listGroups(db, scope, id))[0]));
    },
    export: async (id) => ({ ...(await require(id)), user_ids: await listMemberIds(db, id) }),
    async members(id) {
      await require(id);
      return (await listMembers(db, id)).map(toUserInfo);
    },
    create: (caller, form) => create(options, caller, form),
    async update(caller, id, changes) {
      await update(options, { id, changes, by: caller.userId });
      return await require(id);
    },
    async addMembers(caller, id, userIds) {
      await add(options, { id, userIds, by: caller.userId });
      return await require(id);
    },
    async removeMembers(caller, id, userIds) {
      const group = await require(id);
      const gone = await options.transaction(async (tx) => {
        const gone = await removeMembers(tx, id, userIds);
        await recordMembers(options, tx, { group, gone, by: caller.userId });
        return gone;
      });
      await announceMembers(options, gone, { event: "group.member_removed", id, by: caller.userId });
      return await require(id);
    },
    remove: (caller, id) => remove(options, { id, by: caller.userId }),
  };
}

async function create(options: GroupsOptions, caller: Principal, form: GroupForm): Promise<GroupRecord> {
  const row = await options.transaction(async (tx) => {
    await requireFreeName(tx, form.name);
    const row = await insertGroup(tx, {
      userId: caller.userId,
      name: form.name,
      description: form.description,
      permissions: form.permissions ?? null,
      share: form.data?.config?.share ?? options.defaultShare(),
    });
    const after = toAudited(row);
    await options.record({ action: "group.created", object: toObject(row), after, by: caller.userId }, tx);
    return row;
  });
  options.emit("group.created", { group_id: row.id, name: row.name, by: caller.userId });
  return toGroupRecord({ ...row, member_count: 0 });
}

async function update(
  options: GroupsOptions,
  { id, changes, by }: { id: string; changes: GroupUpdate; by: string },
): Promise<void> {
  const share = changes.data?.config?.share;
  await options.transaction(async (tx) => {
    if (changes.name !== undefined) {
      await requireFreeName(tx, changes.name, id);
    }
    const before = toAudited(requireRow((await listGroups(tx, { all: true }, id))[0]));
    const row = requireRow(await updateGroup(tx, id, { ...changes, ...(share !== undefined && { share }) }));
    const after = toAudited(row);
    await options.record({ action: "group.updated", object: toObject(row), before, after, by }, tx);
  });
  if (changes.permissions !== undefined) {
    // A group may have very many members; forgetting everybody is one short announcement.
    await options.changes.announce({ all: true });
    options.emit("user.permissions_updated", { group_id: id, by });
  }
  options.emit("group.updated", { group_id: id, by });
}

async function add(
  options: GroupsOptions,
  { id, userIds, by }: { id: string; userIds: readonly string[]; by: string },
): Promise<void> {
  const wanted = [...new Set(userIds)];
  const added = await options.transaction(async (tx) => {
    const group = requireRow((await listGroups(tx, { all: true }, id))[0]);
    const known = new Set(
      (await findUsers(tx, wanted)).filter((user) => !user.is_bot).map((user) => user.id),
    );
    const unknown = wanted.filter((userId) => !known.has(userId));
    if (unknown.length > 0) {
      throw new AppError("invalid", `These accounts do not exist: ${unknown.slice(0, 20).join(", ")}`);
    }
    const added = await addMembers(tx, id, wanted);
    await recordMembers(options, tx, { group, added, by });
    return added;
  });
  await announceMembers(options, added, { event: "group.member_added", id, by });
}

async function remove(options: GroupsOptions, { id, by }: { id: string; by: string }): Promise<void> {
  const group = await options.transaction(async (tx) => {
    await options.forgetGrants(tx, id);
    const row = requireRow(await deleteGroup(tx, id));
    const before = toAudited(row);
    await options.record({ action: "group.deleted", object: toObject(row), before, by }, tx);
    return row;
  });
  await options.changes.announce({ all: true });
  options.emit("group.deleted", { group_id: id, name: group.name, by });
}

interface MemberChange {
  readonly group: { readonly id: string; readonly name: string };
  readonly added?: readonly string[];
  readonly gone?: readonly string[];
  readonly by: string;
}

async function recordMembers(
  { record }: GroupsOptions,
  tx: AccountsDatabase,
  { group, added = [], gone = [], by }: MemberChange,
): Promise<void> {
  const object = toObject(group);
  if (added.length > 0) {
    await record({ action: "group.member_added", object, after: { user_ids: added }, by }, tx);
  }
  if (gone.length > 0) {
    await record({ action: "group.member_removed", object, before: { user_ids: gone }, by }, tx);
  }
}

function toObject({ id, name }: { readonly id: string; readonly name: string }) {
  return { type: "group", id, name };
}

function toAudited({ name, description, permissions, data }: GroupRow) {
  return { name, description, permissions, data };
}

/** Above so many members one announcement for everybody is cheaper than one each. */
const announcedOneByOne = 20;

async function announceMembers(
  { changes, emit }: GroupsOptions,
  userIds: readonly string[],
  { event, id, by }: { event: string; id: string; by: string },
): Promise<void> {
  const many = userIds.length > announcedOneByOne;
  await Promise.all(
    (many ? [{ all: true as const }] : userIds.map((userId) => ({ userId }))).map(changes.announce),
  );
  if (userIds.length > 0) {
    emit(event, { group_id: id, user_ids: [...userIds], by });
  }
}

/** Groups are found by name from sign-in providers and provisioning, so a name stands for one group. */
async function requireFreeName(db: AccountsDatabase, name: string, own?: string): Promise<void> {
  const taken = await findGroupByName(db, name);
  if (taken !== undefined && taken !== own) {
    throw new AppError("conflict", "There is already a group of this name.");
  }
}

function toScope(caller: Principal, share: boolean | undefined): GroupScope {
  if (caller.role === "admin") {
    return { all: true };
  }
  if (share === undefined) {
    return { visibleTo: caller.userId };
  }
  return share ? { shareableBy: caller.userId } : { memberId: caller.userId };
}
