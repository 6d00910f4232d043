import { sql } from "kysely";
import { AppError } from "#kernel/errors.ts";
import { seconds } from "#storage/clock.ts";
import { toJson } from "#storage/values.ts";
import {
  addMembers,
  deleteGroup,
  type GroupRow,
  hasGroupLike,
  insertGroup,
  removeMembers,
} from "../groups/groups-store.ts";
import { requireRow } from "../require-row.ts";
import type { AccountsDatabase } from "../tables.ts";
import type { ProvisioningStep } from "./step.ts";
import type { ProvisionedGroup, ProvisioningWork } from "./service.ts";

/** The steps that change groups. */
export function groupWork(
  step: ProvisioningStep,
): Pick<ProvisioningWork, "createGroup" | "updateGroup" | "changeMembers" | "removeGroup"> {
  return {
    createGroup: (group) => create(step, group),
    updateGroup: (id, group) => update(step, id, group),
    changeMembers: (id, change) => changeMembers(step, id, change),
    removeGroup: (id) => remove(step, id),
  };
}

async function create(step: ProvisioningStep, { name, scim }: ProvisionedGroup): Promise<string> {
  const { tx, options, announcements } = step;
  await requireFreeName(tx, name);
  const share = options.defaultShare();
  const { id } = await insertGroup(tx, { userId: null, name, description: "", permissions: null, share });
  const row = await keep(tx, id, { name, scim });
  await step.record({ action: "group.created", object: toObject(row), after: toAudited(row) });
  announcements.event("group.created", { group_id: id, name });
  return id;
}

async function update(step: ProvisioningStep, id: string, group: ProvisionedGroup): Promise<void> {
  const { tx, announcements } = step;
  const before = await lock(tx, id);
  if (group.name !== before.name) {
    await requireFreeName(tx, group.name, id);
  }
  const after = await keep(tx, id, group);
  const audited = { before: toAudited(before), after: toAudited(after) };
  await step.record({ action: "group.updated", object: toObject(after), ...audited });
  announcements.event("group.updated", { group_id: id });
}

async function changeMembers(
  step: ProvisioningStep,
  id: string,
  { add, remove }: { add: readonly string[]; remove: readonly string[] },
): Promise<void> {
  const { tx, announcements } = step;
  const group = await lock(tx, id);
  const object = toObject(group);
  const gone = remove.length === 0 ? [] : await removeMembers(tx, id, remove);
  if (gone.length > 0) {
    await step.record({ action: "group.member_removed", object, before: { user_ids: gone } });
    announcements.event("group.member_removed", { group_id: id, user_ids: gone });
  }
  const added = add.length === 0 ? [] : await addMembers(tx, id, add);
  if (added.length > 0) {
    await step.record({ action: "group.member_added", object, after: { user_ids: added } });
    announcements.event("group.member_added", { group_id: id, user_ids: added });
  }
  if (gone.length + added.length > 0) {
    await tx.updateTable("group").set({ updated_at: seconds() }).where("id", "=", id).execute();
    announcements.accounts([...gone, ...added]);
  }
}

async function remove(step: ProvisioningStep, id: string): Promise<void> {
  const { tx, options, announcements } = step;
  await options.forgetGrants(tx, id);
  const row = requireRow(await deleteGroup(tx, id));
  await step.record({ action: "group.deleted", object: toObject(row), before: toAudited(row) });
  announcements.everybody();
  announcements.event("group.deleted", { group_id: id, name: row.name });
}

async function lock(tx: AccountsDatabase, id: string): Promise<GroupRow> {
  const query = tx.selectFrom("group").selectAll().where("id", "=", id).forUpdate();
  return requireRow(await query.executeTakeFirst());
}

/** Other keys of `meta` are not the provider's. */
async function keep(tx: AccountsDatabase, id: string, { name, scim }: ProvisionedGroup): Promise<GroupRow> {
  const kept = sql`coalesce(meta, '{}'::jsonb)`;
  return requireRow(
    await tx
      .updateTable("group")
      .set({
        name,
        meta:
          scim === null
            ? sql`nullif(${kept} - 'scim', '{}'::jsonb)`
            : sql`${kept} || jsonb_build_object('scim', ${toJson(scim)})`,
        updated_at: seconds(),
      })
      .where("id", "=", id)
      .returningAll()
      .executeTakeFirst(),
  );
}

function toObject({ id, name }: GroupRow) {
  return { type: "group", id, name };
}

function toAudited({ name, description, permissions, data, meta }: GroupRow) {
  return { name, description, permissions, data, meta };
}

/**
 * Providers look groups up by a displayName in which case does not count (RFC 7643, 4.2), so that names which differ in
 * case alone would be one group to them.
 */
async function requireFreeName(tx: AccountsDatabase, name: string, own = ""): Promise<void> {
  if (await hasGroupLike(tx, name, own)) {
    throw new AppError("conflict", "There is already a group of this displayName.");
  }
}
