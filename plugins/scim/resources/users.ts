import { seconds } from "#storage/clock.ts";
import type { ProvisionedAccount } from "#plugins/accounts/service.ts";
import { urns } from "../discovery/urns.ts";
import { notFound, taken } from "../errors.ts";
import { applyPatch } from "../patch/apply.ts";
import { readOperations } from "../patch/operations.ts";
import type { ScimDatabase } from "../tables.ts";
import { type Parameters, readListRequest } from "./list-query.ts";
import type { Session } from "./session.ts";
import type { Email, State, UserState } from "./state.ts";
import {
  findAddressOfOther,
  findByExternalId,
  findRemoved,
  findUser,
  listHeldGroups,
  listUsers,
} from "./store.ts";
import { readUser, toAccount, toUserResource, toUserState, type UserRow } from "./users-record.ts";

/** Creates a user, or revives one that was removed (contract D.26). */
export async function createUser(session: Session, body: unknown): Promise<State> {
  const account = toAccount(readUser(body, { active: true }), {
    before: undefined,
    provider: session.provider,
  });
  return await session.change(async (tx, work) => {
    await requireFreeExternalId(tx, account);
    const removed = await findRemoved(tx, account.email);
    await requireOwnAddresses(tx, account, { own: removed });
    if (removed !== undefined) {
      await work.updateAccount(removed, account);
    }
    return await readResource(tx, removed ?? (await work.createAccount(account)), session.base);
  });
}

/** The resource of one user. Throws `not_found`. */
export async function getUser({ db, base }: Session, id: string): Promise<State> {
  return await readResource(db, id, base);
}

/** Replaces what a provider can write; an account stays active or not when the body does not say. */
export async function replaceUser(session: Session, id: string, body: unknown): Promise<State> {
  return await update(session, id, (row) => {
    const before = toUserState(row);
    return toAccount(readUser(body, before), { before, provider: session.provider });
  });
}

/** Applies the operations of a PATCH body: all of them or none. */
export async function patchUser(session: Session, id: string, { body }: { body: unknown }): Promise<State> {
  const operations = readOperations(body);
  return await update(session, id, (row) => {
    const before = toUserState(row);
    const state = applyPatch("User", { id, state: before }, operations);
    return toAccount(state, { before, provider: session.provider });
  });
}

/** Switches an account off and takes it out of the provider's view (contract D.26). */
export async function removeUser(session: Session, id: string): Promise<void> {
  await session.change(async (tx, work) => {
    await requireUser(tx, id, { locked: true });
    await work.removeAccount(id, { removed_at: seconds() });
  });
}

/** One page of users as a ListResponse. */
export async function listUserResources(
  session: Session,
  parameters: Parameters,
  how?: { isOfSeveral?: boolean },
): Promise<State> {
  const request = readListRequest("User", parameters, how);
  const { rows, total } = await listUsers(session.db, request);
  const held = request.projection.shows("groups")
    ? await listHeldGroups(
        session.db,
        rows.map(({ id }) => id),
      )
    : new Map<string, never[]>();
  return {
    schemas: [urns.listResponse],
    totalResults: total,
    itemsPerPage: rows.length,
    startIndex: request.startIndex,
    Resources: rows.map((row) =>
      request.projection.apply(toUserResource(row, held.get(row.id) ?? [], session.base)),
    ),
  };
}

async function update(
  session: Session,
  id: string,
  toChanged: (row: UserRow) => ProvisionedAccount,
): Promise<State> {
  return await session.change(async (tx, work) => {
    const row = await requireUser(tx, id, { locked: true });
    const account = toChanged(row);
    await requireFreeExternalId(tx, account, id);
    await requireOwnAddresses(tx, account, { own: id, known: toUserState(row).emails });
    if (!isAsBefore(row, account)) {
      await work.updateAccount(id, account);
    }
    return await readResource(tx, id, session.base);
  });
}

/** Providers send the same again and again: what changes nothing is not written. */
function isAsBefore(row: UserRow, account: ProvisionedAccount): boolean {
  return (
    row.email === account.email &&
    row.name === account.name &&
    (row.role !== "pending") === account.active &&
    isSameKept(row.scim, account.scim)
  );
}

function isSameKept(one: unknown, other: unknown): boolean {
  // The database orders the keys of an object its own way.
  return JSON.stringify(sorted(one)) === JSON.stringify(sorted(other));
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) {
    return value.map(sorted);
  }
  return typeof value === "object" && value !== null
    ? Object.fromEntries(
        Object.entries(value)
          .map(([key, each]) => [key, sorted(each)] as const)
          .toSorted(([a], [b]) => (a < b ? -1 : 1)),
      )
    : value;
}

async function requireUser(db: ScimDatabase, id: string, how?: { locked: boolean }): Promise<UserRow> {
  const row = await findUser(db, id, how);
  if (row === undefined) {
    throw notFound("User", id);
  }
  return row;
}

async function readResource(db: ScimDatabase, id: string, base: string): Promise<State> {
  const row = await requireUser(db, id);
  const held = await listHeldGroups(db, [id]);
  return toUserResource(row, held.get(id) ?? [], base);
}

/** Throws `conflict` (uniqueness) for a new address that another account signs in with. */
async function requireOwnAddresses(
  tx: ScimDatabase,
  { scim }: ProvisionedAccount,
  { own, known = [] }: { own: string | undefined; known?: UserState["emails"] },
): Promise<void> {
  const toAddresses = (emails: unknown) =>
    ((emails ?? []) as readonly Email[]).flatMap(({ value }) => value?.toLowerCase() ?? []);
  const added = toAddresses(scim?.["emails"]).filter((address) => !toAddresses(known).includes(address));
  const foreign = await findAddressOfOther(tx, added, own);
  if (foreign !== undefined) {
    throw taken(`emails: ${foreign} belongs to another account.`);
  }
}

async function requireFreeExternalId(tx: ScimDatabase, { scim }: ProvisionedAccount, own?: string) {
  const externalId = scim?.["external_id"];
  if (typeof externalId !== "string") {
    return;
  }
  const owner = await findByExternalId(tx, "user", externalId);
  if (owner !== undefined && owner !== own) {
    throw taken("This externalId belongs to another user.");
  }
}
