import { AppError } from "#kernel/errors.ts";
import { requireRow } from "../require-row.ts";
import { joinDefaultGroup } from "../sign-in/sign-up.ts";
import {
  bumpSessionStamp,
  createUser,
  findPrimaryAdmin,
  lockAdministrators,
  setActive,
  updateEmail,
  updateUser,
  userColumns,
  type UserRow,
} from "../users/users-store.ts";
import type { ProvisioningStep } from "./step.ts";
import type { ProvisionedAccount, ProvisioningWork } from "./service.ts";

/** The steps that change accounts. */
export function accountWork(
  step: ProvisioningStep,
): Pick<ProvisioningWork, "createAccount" | "updateAccount" | "removeAccount"> {
  return {
    createAccount: (account) => create(step, account),
    updateAccount: (id, account) => update(step, id, account),
    removeAccount: (id, scim) => remove(step, id, scim),
  };
}

async function create(step: ProvisioningStep, account: ProvisionedAccount): Promise<string> {
  const { tx, options, passwordHash, announcements } = step;
  const { email, name, active, scim } = account;
  const role = active ? "user" : "pending";
  const user = await createUser(tx, { email, name, role, passwordHash, more: { scim } });
  if (user === undefined) {
    throw addressTaken();
  }
  if (!active) {
    await setActive(tx, user.id, false);
  }
  await joinDefaultGroup(tx, user, options.config.defaultGroup);
  await step.record({ action: "user.created", object: toObject(user), after: toAudited(user) });
  announcements.event("user.created", { user_id: user.id });
  return user.id;
}

async function update(step: ProvisioningStep, id: string, account: ProvisionedAccount): Promise<void> {
  const { tx } = step;
  const before = await lock(tx, id, account.active);
  if (account.email !== before.email && !(await updateEmail(tx, id, account.email))) {
    throw addressTaken();
  }
  const role = toRole(before, account.active);
  await switchAccount(step, before, account.active);
  const after = requireRow(await updateUser(tx, id, { name: account.name, role, scim: account.scim }));
  await recordUpdate(step, before, after);
}

async function remove(step: ProvisioningStep, id: string, scim: Record<string, unknown>): Promise<void> {
  const { tx, announcements } = step;
  const before = await lock(tx, id, false);
  const left = await tx.deleteFrom("group_member").where("user_id", "=", id).returning("group_id").execute();
  await switchAccount(step, before, false);
  const after = requireRow(await updateUser(tx, id, { role: "pending", scim }));
  await recordUpdate(step, before, after, { group_ids: left.map((row) => row.group_id).toSorted() });
  for (const { group_id: groupId } of left) {
    announcements.event("group.member_removed", { group_id: groupId, user_ids: [id] });
  }
}

/** Reads the account for a change; the last active and the primary administrator stay switched on (contract D.27, 1.3). */
async function lock(tx: ProvisioningStep["tx"], id: string, active: boolean): Promise<UserRow> {
  if (!active) {
    await lockAdministrators(tx);
  }
  const user = requireRow(
    await tx
      .selectFrom("user")
      .select(userColumns)
      .where("id", "=", id)
      .where("is_bot", "=", false)
      .forUpdate()
      .executeTakeFirst(),
  );
  if (active || user.role !== "admin") {
    return user;
  }
  const admins = await tx.selectFrom("user").select("id").where("role", "=", "admin").limit(2).execute();
  if (admins.length < 2) {
    throw new AppError("invalid", "The last active administrator cannot be deactivated.", {
      reason: "mutability",
    });
  }
  if ((await findPrimaryAdmin(tx))?.id === id) {
    throw new AppError("forbidden", "An identity provider cannot deactivate the primary administrator.");
  }
  return user;
}

/** Roles are given on this platform alone: an account that wakes up is a user, whatever it was before. */
function toRole({ role }: UserRow, active: boolean): UserRow["role"] {
  if (!active) {
    return "pending";
  }
  return role === "pending" ? "user" : role;
}

/** A change of the state ends every session; what is pending for other reasons is asked again at each sign-in. */
async function switchAccount({ tx }: ProvisioningStep, before: UserRow, active: boolean): Promise<void> {
  const wasActive = before.role !== "pending";
  if (!active) {
    // A key that outlived this would be accepted again once the account is switched on.
    await tx.deleteFrom("api_key").where("user_id", "=", before.id).execute();
  }
  if (active !== wasActive) {
    await setActive(tx, before.id, active);
  } else if (!active) {
    await tx.updateTable("auth").set({ active: false }).where("id", "=", before.id).execute();
    await bumpSessionStamp(tx, before.id);
  }
}

async function recordUpdate(
  step: ProvisioningStep,
  before: UserRow,
  after: UserRow,
  left: { group_ids: string[] } | undefined = undefined,
): Promise<void> {
  const { announcements } = step;
  await step.record({
    action: "user.updated",
    object: toObject(after),
    before: { ...toAudited(before), ...(left && left.group_ids.length > 0 && left) },
    after: { ...toAudited(after), ...(left && left.group_ids.length > 0 && { group_ids: [] }) },
  });
  announcements.accounts([after.id]);
  announcements.event("user.updated", { user_id: after.id });
  if (before.role !== after.role) {
    // Listeners end what runs for the account; `from` and `to` tell them why.
    announcements.event("user.role_updated", { user_id: after.id, from: before.role, to: after.role });
  }
}

function toObject({ id, name }: UserRow) {
  return { type: "user", id, name };
}

function toAudited({ name, email, role, scim }: UserRow) {
  return { name, email, role, scim };
}

function addressTaken(): AppError {
  return new AppError("conflict", "This userName belongs to another account.");
}
