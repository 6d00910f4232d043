import type { Principal } from "#kernel/access/principal.ts";
import { AppError } from "#kernel/errors.ts";
import type { GrantInput } from "#storage/grants.ts";
import { forgetBackgrounds } from "./backgrounds.ts";
import { linkedFiles } from "./linked-files.ts";
import { findChainProblem } from "./offers.ts";
import { announce, type ModelParts, resourceType } from "./parts.ts";
import { findWritable, toStoredGrants } from "./rights.ts";
import {
  allIds,
  deleteRows,
  findRow,
  insertRow,
  lockRows,
  type ModelRow,
  setActive,
  updateRow,
} from "./store.ts";
import { type ModelForm, requireBaseRight, requireModelId, toValues } from "./values.ts";
import { toModel, toReadersModel, type WireModel } from "./wire.ts";

export interface SharedForm extends ModelForm {
  readonly access_grants?: readonly GrantInput[] | null | undefined;
}

/** A record with its author and whether the caller may change it. */
export interface DetailedModel extends WireModel {
  user: { id: string; name: string; email: string; role: string } | null;
  write_access: boolean;
}

export interface SavedModels {
  /** Throws `conflict` for a taken id, `invalid`, `forbidden` and `not_found` as the rules of records say. */
  create(caller: Principal, form: SharedForm): Promise<DetailedModel>;
  get(caller: Principal, id: string): Promise<DetailedModel>;
  update(caller: Principal, form: SharedForm): Promise<DetailedModel>;
  /** Replaces the grants; for a provider's model without a record an admin gets one made. */
  share(
    caller: Principal,
    form: { id: string; name?: string | undefined; access_grants: readonly GrantInput[] },
  ): Promise<DetailedModel>;
  toggle(caller: Principal, id: string): Promise<DetailedModel>;
  remove(caller: Principal, id: string): Promise<void>;
  removeAll(caller: Principal): Promise<void>;
  /** Rows as this caller may see them, in their order. */
  show(caller: Principal, rows: readonly ModelRow[]): Promise<DetailedModel[]>;
}

/** The life of saved models: who may do what, and what a record may say. */
export function createSavedModels(parts: ModelParts): SavedModels {
  const { db, transaction, grants, records, loader, events, accounts } = parts;
  const show = createShow(parts);
  const showOne = async (caller: Principal, id: string) => {
    const row = await findRow(db, id);
    const [shown] = row ? await show(caller, [row]) : [];
    if (shown === undefined) {
      throw new AppError("not_found", "Not found");
    }
    return shown;
  };

  async function create(caller: Principal, form: SharedForm): Promise<DetailedModel> {
    const id = requireModelId(form.id);
    const values = toValues(form, undefined, accounts.pictures);
    requireBaseRight(caller, values.base_model_id, undefined);
    await requireFit(parts, id, values.base_model_id);
    await parts.references.require(caller, values.meta, {});
    const given = await toStoredGrants(parts, caller, { wanted: form.access_grants ?? [], held: [] });
    await transaction(async (tx) => {
      if (!(await insertRow(tx, { id, userId: caller.userId }, values))) {
        throw taken(id);
      }
      await grants.replace(tx, resourceType, id, given);
    });
    await records.refresh();
    announce(events, "model.created", { by: caller, id, data: { name: values.name } });
    return await showOne(caller, id);
  }

  async function update(caller: Principal, form: SharedForm): Promise<DetailedModel> {
    const { id } = form;
    const before = await loader.load(caller, id, "write");
    const planned = toValues(form, before, accounts.pictures);
    requireBaseRight(caller, planned.base_model_id, before);
    if (planned.base_model_id !== before.base_model_id) {
      await requireFit(parts, id, planned.base_model_id);
    }
    await parts.references.require(caller, planned.meta, { before: before.meta });
    const wanted = form.access_grants ?? undefined;
    const held = await grants.list(resourceType, [id]);
    const given = wanted && (await toStoredGrants(parts, caller, { wanted, held }));
    await transaction(async (tx) => {
      const [row] = await lockRows(tx, [id]);
      if (row === undefined) {
        throw new AppError("not_found", "Not found");
      }
      // Laid over the row of now: somebody else's change of another field must not be undone.
      await updateRow(tx, id, toValues(form, row, accounts.pictures));
      if (given) {
        await grants.replace(tx, resourceType, id, given);
      }
    });
    await records.refresh();
    announce(events, "model.updated", { by: caller, id, data: { name: planned.name } });
    await forgetBackgrounds(parts, caller, linkedFiles(before.meta));
    return await showOne(caller, id);
  }

  return {
    create,
    update,
    show,
    async get(caller, id) {
      const [shown] = await show(caller, [await loader.load(caller, id, "read")]);
      return shown as DetailedModel;
    },
    async share(caller, { id, name, access_grants: wanted }) {
      if (caller.role === "admin" && (await findRow(db, id)) === undefined) {
        const { model } = await parts.catalogue.find(id);
        return await create(caller, {
          id,
          name: name ?? model.name,
          base_model_id: null,
          access_grants: wanted,
        });
      }
      const row = await loader.load(caller, id, "write");
      const held = await grants.list(resourceType, [id]);
      const given = await toStoredGrants(parts, caller, { wanted, held });
      await transaction(async (tx) => {
        await lockRows(tx, [id]);
        await grants.replace(tx, resourceType, id, given);
        if (name !== undefined && name !== row.name) {
          await updateRow(tx, id, toValues({ id, name }, row, accounts.pictures));
        }
      });
      await records.refresh();
      announce(events, "model.access_updated", { by: caller, id, data: { access_grants: given } });
      return await showOne(caller, id);
    },
    async toggle(caller, id) {
      await loader.load(caller, id, "write");
      const isActive = await transaction((tx) => setActive(tx, id));
      await records.refresh();
      announce(events, isActive ? "model.enabled" : "model.disabled", { by: caller, id });
      return await showOne(caller, id);
    },
    async remove(caller, id) {
      const row = await loader.load(caller, id, "write");
      await removeRows(parts, [id]);
      announce(events, "model.deleted", { by: caller, id, data: { name: row.name } });
      await forgetBackgrounds(parts, caller, linkedFiles(row.meta));
    },
    async removeAll(caller) {
      const files = [...(await records.fresh()).values()].flatMap(({ meta }) => linkedFiles(meta));
      const removed = await removeRows(parts, await allIds(db));
      for (const id of removed) {
        announce(events, "model.deleted", { by: caller, id });
      }
      await forgetBackgrounds(parts, caller, files);
    },
  };
}

async function removeRows(
  { transaction, grants, records }: ModelParts,
  ids: readonly string[],
): Promise<string[]> {
  const removed = await transaction(async (tx) => {
    await grants.forget(tx, resourceType, ids);
    return await deleteRows(tx, ids);
  });
  await records.refresh();
  return removed;
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

function createShow(parts: ModelParts): SavedModels["show"] {
  return async (caller, rows) => {
    const [writable, granted, authors] = await Promise.all([
      findWritable(parts, caller, rows),
      parts.grants.list(
        resourceType,
        rows.map(({ id }) => id),
      ),
      parts.accounts.summaries(rows.map((row) => row.user_id)),
    ]);
    const byModel = Map.groupBy(granted, (grant) => grant.resource_id);
    return rows.map((row) => ({
      ...(writable.has(row.id) ? toModel(row, byModel.get(row.id) ?? []) : toReadersModel(row)),
      user: authors.get(row.user_id) ?? null,
      write_access: writable.has(row.id),
    }));
  };
}

function taken(id: string): AppError {
  return new AppError("conflict", `The model id "${id}" is taken.`);
}
