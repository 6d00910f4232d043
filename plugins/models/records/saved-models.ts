import type { Principal } from "#kernel/access/principal.ts";
import { AppError } from "#kernel/errors.ts";
import { type ModelParts, resourceType } from "../parts.ts";
import { findWritable } from "./rights.ts";
import {
  create,
  remove,
  removeAll,
  share,
  type SharedForm,
  type SharingForm,
  toggle,
  update,
} from "./saving.ts";
import { findRow, type ModelRow } from "./store.ts";
import { toModel, toReadersModel, type WireModel } from "./wire.ts";

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
  share(caller: Principal, form: SharingForm): Promise<DetailedModel>;
  toggle(caller: Principal, id: string): Promise<DetailedModel>;
  remove(caller: Principal, id: string): Promise<void>;
  removeAll(caller: Principal): Promise<void>;
  /** Rows as this caller may see them, in their order. */
  show(caller: Principal, rows: readonly ModelRow[]): Promise<DetailedModel[]>;
}

/** The life of saved models, each step answered with the record as its caller may see it. */
export function createSavedModels(parts: ModelParts): SavedModels {
  const show = createShow(parts);
  async function showOne(caller: Principal, id: string): Promise<DetailedModel> {
    const row = await findRow(parts.db, id);
    const [shown] = row ? await show(caller, [row]) : [];
    if (shown === undefined) {
      // Somebody removed it in the meantime.
      throw new AppError("not_found", "Not found");
    }
    return shown;
  }
  return {
    show,
    async create(caller, form) {
      await create(parts, caller, form);
      return await showOne(caller, form.id);
    },
    async get(caller, id) {
      const [shown] = await show(caller, [await parts.loader.load(caller, id, "read")]);
      return shown as DetailedModel;
    },
    async update(caller, form) {
      await update(parts, caller, form);
      return await showOne(caller, form.id);
    },
    async share(caller, form) {
      await share(parts, caller, form);
      return await showOne(caller, form.id);
    },
    async toggle(caller, id) {
      await toggle(parts, caller, id);
      return await showOne(caller, id);
    },
    remove: (caller, id) => remove(parts, caller, id),
    removeAll: (caller) => removeAll(parts, caller),
  };
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
