import type { ProvisioningWork } from "#plugins/accounts/service.ts";
import { urns } from "../discovery/urns.ts";
import { notFound, refusal, taken } from "../errors.ts";
import { applyPatch } from "../patch/apply.ts";
import { readMemberChanges } from "../patch/member-changes.ts";
import { readOperations } from "../patch/operations.ts";
import type { ScimDatabase } from "../tables.ts";
import {
  type GroupRow,
  memberIds,
  readGroup,
  requireGroupName,
  toGroupResource,
  toGroupState,
} from "./groups-record.ts";
import { type Parameters, readListRequest } from "./list-query.ts";
import { type Projection, whole } from "./projection.ts";
import type { Session } from "./session.ts";
import type { GroupState, State } from "./state.ts";
import {
  findByExternalId,
  findGroup,
  findUnknownUsers,
  hasMoreMembers,
  listGroups,
  listMembers,
} from "./store.ts";

/** Creates a group with its members. */
export async function createGroup(session: Session, body: unknown): Promise<State> {
  const state = readGroup(body);
  const name = requireGroupName(state);
  const add = [...memberIds(state)];
  return await session.change(async (tx, work) => {
    await requireFreeExternalId(tx, state);
    await requireKnown(tx, add);
    const id = await work.createGroup({ name, scim: toKept(session, state) });
    await work.changeMembers(id, { add, remove: [] });
    return await readResource(tx, id, { base: session.base });
  });
}

/** The resource of one group; members are read where the projection shows them. Throws `not_found`. */
export async function getGroup({ db, base }: Session, id: string, projection: Projection): Promise<State> {
  return await readResource(db, id, { base, projection });
}

/** Replaces name, external id and members. */
export async function replaceGroup(session: Session, id: string, body: unknown): Promise<State> {
  const state = readGroup(body);
  return await update(session, id, () => state);
}

/** Each operation that depends on the members there are walks all of them. */
const mostWalks = 1000;

/** Members of a group above which a PATCH of some is answered without all of them (RFC 7644, 3.5.2). */
const mostShown = 1000;

/** Applies the operations of a PATCH body: all of them or none. Undefined is an answer without content. */
export async function patchGroup(
  session: Session,
  id: string,
  { body, projection }: { body: unknown; projection: Projection },
): Promise<State | undefined> {
  const operations = readOperations(body);
  const changes = readMemberChanges(operations);
  if (changes === undefined) {
    if (operations.length > mostWalks) {
      throw refusal("tooMany", `Operations on chosen members are at most ${mostWalks} in one request.`);
    }
    return await update(session, id, (before) => applyPatch("Group", { id, state: before }, operations));
  }
  const { add, remove, others } = changes;
  return await session.change(async (tx, work) => {
    const row = await requireGroup(tx, id, { locked: true });
    const before = toGroupState(row, []);
    const after = applyPatch("Group", { id, state: before }, others);
    await requireFreeExternalId(tx, after, id);
    await rename(session, work, { row, before, after });
    await requireKnown(tx, add);
    const unseen = new Set(await findUnknownUsers(tx, remove));
    await work.changeMembers(id, { add, remove: remove.filter((each) => !unseen.has(each)) });
    const isTooLarge = projection === whole && (await hasMoreMembers(tx, id, mostShown));
    return isTooLarge ? undefined : await readResource(tx, id, { base: session.base, projection });
  });
}

/** Deletes a group; its members stay. */
export async function removeGroup(session: Session, id: string): Promise<void> {
  await session.change(async (tx, work) => {
    await requireGroup(tx, id, { locked: true });
    await work.removeGroup(id);
  });
}

/** One page of groups as a ListResponse. */
export async function listGroupResources(
  session: Session,
  parameters: Parameters,
  how?: { isOfSeveral?: boolean },
): Promise<State> {
  const request = readListRequest("Group", parameters, how);
  const { rows, total } = await listGroups(session.db, request);
  const members = request.projection.shows("members")
    ? await listMembers(
        session.db,
        rows.map(({ id }) => id),
      )
    : undefined;
  return {
    schemas: [urns.listResponse],
    totalResults: total,
    itemsPerPage: rows.length,
    startIndex: request.startIndex,
    Resources: rows.map((row) =>
      request.projection.apply(toGroupResource(row, members?.get(row.id), session.base)),
    ),
  };
}

async function update(
  session: Session,
  id: string,
  toChanged: (before: GroupState) => GroupState,
): Promise<State> {
  return await session.change(async (tx, work) => {
    const row = await requireGroup(tx, id, { locked: true });
    const before = toGroupState(row, (await listMembers(tx, [id])).get(id) ?? []);
    const after = toChanged(before);
    await requireFreeExternalId(tx, after, id);
    await changeGroup(session, { tx, work }, { row, before, after });
    return await readResource(tx, id, { base: session.base });
  });
}

async function changeGroup(
  session: Session,
  { tx, work }: { tx: ScimDatabase; work: ProvisioningWork },
  { row, before, after }: { row: GroupRow; before: GroupState; after: GroupState },
): Promise<void> {
  await rename(session, work, { row, before, after });
  const had = memberIds(before);
  const has = memberIds(after);
  const add = [...has].filter((id) => !had.has(id));
  const remove = [...had].filter((id) => !has.has(id));
  await requireKnown(tx, add);
  await work.changeMembers(row.id, { add, remove });
}

async function rename(
  session: Session,
  work: ProvisioningWork,
  { row, before, after }: { row: GroupRow; before: GroupState; after: GroupState },
): Promise<void> {
  const name = requireGroupName(after);
  if (name !== row.name || after.externalId !== before.externalId) {
    await work.updateGroup(row.id, { name, scim: toKept(session, after) });
  }
}

function toKept({ provider }: Session, { externalId }: GroupState) {
  return externalId === undefined ? null : { external_id: externalId, ...(provider !== "" && { provider }) };
}

async function requireKnown(tx: ScimDatabase, ids: readonly string[]): Promise<void> {
  const unknown = await findUnknownUsers(tx, ids);
  if (unknown.length > 0) {
    const shown = unknown.slice(0, 20).map((id) => id.slice(0, 100));
    throw refusal("invalidValue", `members: there are no users with these ids: ${shown.join(", ")}`);
  }
}

async function requireGroup(db: ScimDatabase, id: string, how?: { locked: boolean }): Promise<GroupRow> {
  const row = await findGroup(db, id, how);
  if (row === undefined) {
    throw notFound("Group", id);
  }
  return row;
}

async function readResource(
  db: ScimDatabase,
  id: string,
  { base, projection }: { base: string; projection?: Projection },
): Promise<State> {
  const row = await requireGroup(db, id);
  const isWithMembers = projection === undefined || projection.shows("members");
  const members = isWithMembers ? (await listMembers(db, [id])).get(id) : undefined;
  return toGroupResource(row, members, base);
}

async function requireFreeExternalId(tx: ScimDatabase, { externalId }: GroupState, own?: string) {
  if (externalId === undefined) {
    return;
  }
  const owner = await findByExternalId(tx, "group", externalId);
  if (owner !== undefined && owner !== own) {
    throw taken("This externalId belongs to another group.");
  }
}
