import type { Principal } from "#kernel/access/principal.ts";
import { AppError } from "#kernel/errors.ts";
import type { GrantInput } from "#storage/grants.ts";
import { forgetBackgrounds } from "../pictures/backgrounds.ts";
import { linkedFiles } from "../pictures/linked-files.ts";
import { toGrants } from "../catalogue/audience-grants.ts";
import { findChainProblem } from "../catalogue/available-models.ts";
import { announce, type ModelParts, resourceType } from "../parts.ts";
import { toStoredGrants } from "./rights.ts";
import { toEntry } from "./record-change.ts";
import { allIds, deleteRows, findRow, insertRow, lockRows, setActive, updateRow } from "./store.ts";
import { type ModelForm, requireBaseRight, requireModelId, toValues } from "./values.ts";

export interface SharedForm extends ModelForm {
  readonly access_grants?: readonly GrantInput[] | null | undefined;
}

export interface SharingForm {
  readonly id: string;
  readonly name?: string | undefined;
  readonly access_grants: readonly GrantInput[];
}

/** Saves a new model of the caller. */
export async function create(parts: ModelParts, caller: Principal, form: SharedForm): Promise<void> {
  const { transaction, grants, records, accounts } = parts;
  const id = requireModelId(form.id);
  const values = toValues(form, undefined, accounts.pictures);
  requireBaseRight(caller, values.base_model_id, undefined);
  await requireFit(parts, id, values.base_model_id);
  await parts.references.require(caller, values.meta, {});
  const wanted = form.access_grants ?? (await grantsOfConnection(parts, id, values.base_model_id));
  const given = await toStoredGrants(parts, caller, { wanted, held: [] });
  await transaction(async (tx) => {
    if (!(await insertRow(tx, { id, userId: caller.userId }, values))) {
      throw taken(id);
    }
    await grants.replace(tx, resourceType, id, given);
    await parts.record(toEntry("created", id, { after: { row: values, grants: given } }), tx);
  });
  await records.refresh();
  announce(parts.events, "model.created", { by: caller, id, data: { name: values.name } });
}

/** Changes what the form names. */
export async function update(parts: ModelParts, caller: Principal, form: SharedForm): Promise<void> {
  const { transaction, grants, records, accounts } = parts;
  const { id } = form;
  const before = await parts.loader.load(caller, id, "write");
  const planned = toValues(form, before, accounts.pictures);
  requireBaseRight(caller, planned.base_model_id, before);
  if (planned.base_model_id !== before.base_model_id) {
    await requireFit(parts, id, planned.base_model_id);
  }
  await parts.references.require(caller, planned.meta, { before: before.meta });
  const wanted = form.access_grants ?? undefined;
  const held = wanted ? await grants.list(resourceType, [id]) : [];
  const given = wanted && (await toStoredGrants(parts, caller, { wanted, held }));
  await transaction(async (tx) => {
    const [row = raise(notFound())] = await lockRows(tx, [id]);
    // Laid over the row of now: somebody else's change of another field must not be undone.
    const values = toValues(form, row, accounts.pictures);
    await updateRow(tx, id, values);
    if (given) {
      await grants.replace(tx, resourceType, id, given);
    }
    const after = { row: { ...values, picture: values.picture ?? row.picture }, grants: given };
    await parts.record(toEntry("updated", id, { before: { row, grants: given && held }, after }), tx);
  });
  await records.refresh();
  announce(parts.events, "model.updated", { by: caller, id, data: { name: planned.name } });
  await forgetBackgrounds(parts, caller, linkedFiles(before.meta));
}

/** Replaces the grants; for a provider's model without a record an admin gets one made. */
export async function share(
  parts: ModelParts,
  caller: Principal,
  { id, name, access_grants: wanted }: SharingForm,
): Promise<void> {
  const { db, transaction, grants, records, loader, accounts } = parts;
  if (caller.role === "admin" && (await findRow(db, id)) === undefined) {
    const { model } = await parts.catalogue.find(id);
    const form = { id, name: name ?? model.name, base_model_id: null, access_grants: wanted };
    return await create(parts, caller, form);
  }
  await loader.load(caller, id, "write");
  const held = await grants.list(resourceType, [id]);
  const given = await toStoredGrants(parts, caller, { wanted, held });
  await transaction(async (tx) => {
    const [row = raise(notFound())] = await lockRows(tx, [id]);
    await grants.replace(tx, resourceType, id, given);
    if (name !== undefined && name !== row.name) {
      await updateRow(tx, id, toValues({ id, name }, row, accounts.pictures));
    }
    const after = { row: { ...row, name: name ?? row.name }, grants: given };
    await parts.record(toEntry("updated", id, { before: { row, grants: held }, after }), tx);
  });
  await records.refresh();
  announce(parts.events, "model.access_updated", { by: caller, id, data: { access_grants: given } });
}

/** Switches a model on or off. */
export async function toggle(parts: ModelParts, caller: Principal, id: string): Promise<void> {
  const row = await parts.loader.load(caller, id, "write");
  const isActive = await parts.transaction(async (tx) => {
    const isActive = await setActive(tx, id);
    const [before, after] = [
      { row: { ...row, is_active: !isActive } },
      { row: { ...row, is_active: isActive === true } },
    ];
    await parts.record(toEntry("updated", id, { before, after }), tx);
    return isActive;
  });
  await parts.records.refresh();
  announce(parts.events, isActive ? "model.enabled" : "model.disabled", { by: caller, id });
}

/** Removes one model. */
export async function remove(parts: ModelParts, caller: Principal, id: string): Promise<void> {
  const row = await parts.loader.load(caller, id, "write");
  await removeRows(parts, [id]);
  announce(parts.events, "model.deleted", { by: caller, id, data: { name: row.name } });
  await forgetBackgrounds(parts, caller, linkedFiles(row.meta));
}

/** Removes every saved model. */
export async function removeAll(parts: ModelParts, caller: Principal): Promise<void> {
  const saved = [...(await parts.records.fresh()).values()];
  for (const id of await removeRows(parts, await allIds(parts.db))) {
    announce(parts.events, "model.deleted", { by: caller, id });
  }
  await forgetBackgrounds(
    parts,
    caller,
    saved.flatMap(({ meta }) => linkedFiles(meta)),
  );
}

async function removeRows(
  { transaction, grants, records, record }: ModelParts,
  ids: readonly string[],
): Promise<string[]> {
  const removed = await transaction(async (tx) => {
    const rows = await lockRows(tx, ids);
    await grants.forget(tx, resourceType, ids);
    for (const row of rows) {
      await record(toEntry("deleted", row.id, { before: { row } }), tx);
    }
    return await deleteRows(tx, ids);
  });
  await records.refresh();
  return removed;
}

/** The first record of a provider's model lets in the people that its connection did: an edit of its name is no new access. */
async function grantsOfConnection(
  { catalogue }: ModelParts,
  id: string,
  base: string | null,
): Promise<GrantInput[]> {
  const provided = base === null ? await catalogue.find(id).catch(() => undefined) : undefined;
  return provided === undefined ? [] : toGrants(provided.model.access);
}

/** An id is free for a model of one's own when no provider offers it, and a chain ends somewhere. */
async function requireFit(
  { catalogue, records }: ModelParts,
  id: string,
  base: string | null,
): Promise<void> {
  if (base === null) {
    return;
  }
  if (await catalogue.isOffered(id)) {
    throw taken(id);
  }
  const saved = await records.fresh();
  const problem = findChainProblem(id, (at) => (at === id ? base : saved.get(at)?.base_model_id));
  if (problem !== undefined) {
    throw new AppError("invalid", problem);
  }
}

function taken(id: string): AppError {
  return new AppError("conflict", `The model id "${id}" is taken.`);
}

function notFound(): AppError {
  return new AppError("not_found", "Not found");
}

function raise(error: AppError): never {
  throw error;
}
