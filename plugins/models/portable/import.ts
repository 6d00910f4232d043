import { sql } from "kysely";
import type { Principal } from "#kernel/access/principal.ts";
import { AppError } from "#kernel/errors.ts";
import type { GrantInput } from "#storage/grants.ts";
import { type BackgroundImage, readBackgroundImage } from "../pictures/background-image.ts";
import { forgetBackgrounds, storeBackground } from "../pictures/backgrounds.ts";
import { linkedFiles } from "../pictures/linked-files.ts";
import { findChainProblem } from "../catalogue/available-models.ts";
import { announce, type ModelParts, resourceType } from "../parts.ts";
import type { Portable } from "./portable.ts";
import { toEntry } from "../records/record-change.ts";
import { findWritable, toStoredGrants } from "../records/rights.ts";
import { fromAccessControl } from "./sharing.ts";
import {
  allIds,
  deleteRows,
  findRows,
  insertRow,
  lockRows,
  type ModelRow,
  type ModelValues,
  updateRow,
} from "../records/store.ts";
import { requireBaseRight, requireModelId, toValues } from "../records/values.ts";

/** `merge` creates and updates; `exact` also deletes what is not in the list, and what a record leaves out is empty. */
export type ImportMode = "merge" | "exact";

/** One record as it will be stored, checked in every respect. */
interface Planned {
  readonly id: string;
  /** The row that was found when the plan was made. */
  readonly row: ModelRow | undefined;
  readonly values: ModelValues;
  readonly grants: readonly GrantInput[] | undefined;
  readonly image: BackgroundImage | undefined;
}

/** The rows changed since the plan was made. */
class PlanOutdated extends Error {}

const tries = 5;

/**
 * Takes records in: all of them or none. Nothing is written before everything was checked; files that were stored
 * for an import that failed are removed again. Two imports at once come one after the other.
 */
export async function importModels(
  parts: ModelParts,
  caller: Principal,
  { models, mode }: { models: readonly Portable[]; mode: ImportMode },
): Promise<void> {
  requireDistinct(models);
  for (let left = tries; ; left -= 1) {
    const plan = await makePlan(parts, caller, { models, mode });
    try {
      await carryOut(parts, caller, { plan, mode });
      break;
    } catch (error) {
      if (!(error instanceof PlanOutdated) || left <= 1) {
        throw error instanceof PlanOutdated
          ? new AppError("conflict", "The models are being changed by somebody else. Try again.")
          : error;
      }
    }
  }
  const data = { ids: models.slice(0, 1_000).map(({ id }) => id), count: models.length };
  announce(parts.events, mode === "exact" ? "model.synced" : "model.imported", { by: caller, data });
}

async function makePlan(
  parts: ModelParts,
  caller: Principal,
  { models, mode }: { models: readonly Portable[]; mode: ImportMode },
): Promise<Planned[]> {
  const ids = models.map(({ id }) => requireModelId(id));
  const rows = await findRows(parts.db, ids);
  await requireWritable(
    parts,
    caller,
    mode === "exact" ? await findRows(parts.db, await allIds(parts.db)) : rows,
  );
  const found = new Map(rows.map((row) => [row.id, row]));
  const plan: Planned[] = [];
  for (const model of models) {
    plan.push(await planOne(parts, caller, { model, row: found.get(model.id), mode }));
  }
  await requireChains(parts, plan, mode);
  return plan;
}

/** Checks one record as an import would, and stores nothing. Throws what the import refuses it with. */
export async function planOne(
  parts: ModelParts,
  caller: Principal,
  { model, row, mode }: { model: Portable; row: ModelRow | undefined; mode: ImportMode },
): Promise<Planned> {
  const { id } = model;
  const form = mode === "exact" ? toComplete(model) : model;
  const image = model.background_image_data
    ? readBackgroundImage(model.background_image_data, id)
    : undefined;
  const laid = toValues(form, row, parts.accounts.pictures);
  const values = image ? { ...laid, meta: { ...laid.meta, background_image_url: null } } : laid;
  requireBaseRight(caller, values.base_model_id, row);
  if (row === undefined && values.base_model_id !== null && (await parts.catalogue.isOffered(id))) {
    throw new AppError("conflict", `The model id "${id}" is taken.`);
  }
  await parts.references.require(caller, values.meta, { before: row?.meta, all: true });
  const sent = model.access_grants ?? fromAccessControl(model.access_control);
  const held = row && sent ? await parts.grants.list(resourceType, [id]) : [];
  const grants = sent && (await toStoredGrants(parts, caller, { wanted: sent, held }));
  return { id, row, values, grants, image };
}

/** Fields that the list leaves out are empty. */
function toComplete(model: Portable): Portable {
  const meta = { voice_avatar: null, ...model.meta };
  return { params: {}, base_model_id: null, model: null, ...model, meta };
}

/** Pictures first, rows after: a row never names a picture that is not there. */
async function carryOut(
  parts: ModelParts,
  caller: Principal,
  { plan, mode }: { plan: readonly Planned[]; mode: ImportMode },
): Promise<void> {
  const stored: string[] = [];
  try {
    const backgrounds = new Map<string, string>();
    for (const { id, row, image } of plan) {
      if (image) {
        const background = await storeBackground(parts, caller, { image, before: row });
        backgrounds.set(id, background.url);
        stored.push(...(background.isNew ? [background.id] : []));
      }
    }
    const replaced = await write(parts, caller, { plan, backgrounds, mode });
    await parts.records.refresh();
    await forgetBackgrounds(parts, caller, replaced);
  } catch (error) {
    await forgetBackgrounds(parts, caller, stored);
    throw error;
  }
}

/** Writes all rows in one transaction; resolves to the files that the former rows showed. */
async function write(
  { transaction, grants, record }: ModelParts,
  caller: Principal,
  {
    plan,
    backgrounds,
    mode,
  }: { plan: readonly Planned[]; backgrounds: ReadonlyMap<string, string>; mode: ImportMode },
): Promise<string[]> {
  return await transaction(async (tx) => {
    await sql`select pg_advisory_xact_lock(hashtext('models'), hashtext('import'))`.execute(tx);
    const ids =
      mode === "exact"
        ? [...new Set([...(await allIds(tx)), ...plan.map(({ id }) => id)])]
        : plan.map(({ id }) => id);
    const rows = new Map((await lockRows(tx, ids)).map((row) => [row.id, row]));
    for (const { id, row, values, grants: given } of plan) {
      const now = rows.get(id);
      if (now?.user_id !== row?.user_id || now?.updated_at !== row?.updated_at) {
        throw new PlanOutdated();
      }
      const url = backgrounds.get(id);
      const complete = url ? { ...values, meta: { ...values.meta, background_image_url: url } } : values;
      const after = { row: { ...complete, picture: complete.picture ?? now?.picture }, grants: given };
      await record(toEntry("imported", id, { before: now && { row: now }, after }), tx);
      if (now) {
        await updateRow(tx, id, complete);
      } else if (!(await insertRow(tx, { id, userId: caller.userId }, complete))) {
        throw new PlanOutdated();
      }
      if (given) {
        await grants.replace(tx, resourceType, id, given);
      }
    }
    const kept = new Set(plan.map(({ id }) => id));
    const gone = [...rows.keys()].filter((id) => !kept.has(id));
    if (gone.length > 0) {
      await grants.forget(tx, resourceType, gone);
      for (const id of gone) {
        const row = rows.get(id) as ModelRow;
        await record(toEntry("deleted", id, { before: { row } }), tx);
      }
      await deleteRows(tx, gone);
    }
    return [...rows.values()].flatMap(({ meta }) => linkedFiles(meta));
  });
}

async function requireWritable(
  parts: ModelParts,
  caller: Principal,
  rows: readonly ModelRow[],
): Promise<void> {
  const writable = await findWritable(parts, caller, rows);
  const foreign = rows.find(({ id }) => !writable.has(id));
  if (foreign !== undefined) {
    throw new AppError("forbidden", `You may not change the model "${foreign.id}".`);
  }
}

/** The chains as they will be once everything is stored. */
async function requireChains(
  { records }: ModelParts,
  plan: readonly Planned[],
  mode: ImportMode,
): Promise<void> {
  const saved = await records.fresh();
  const planned = new Map(plan.map(({ id, values }) => [id, values.base_model_id]));
  const baseOf = (id: string) =>
    planned.has(id) ? planned.get(id) : mode === "exact" ? undefined : saved.get(id)?.base_model_id;
  for (const { id } of plan) {
    const problem = findChainProblem(id, baseOf);
    if (problem !== undefined) {
      throw new AppError("invalid", `The model "${id}" cannot be taken in: ${problem}`);
    }
  }
}

function requireDistinct(models: readonly Portable[]): void {
  const seen = new Set<string>();
  for (const { id } of models) {
    if (seen.has(id)) {
      throw new AppError("invalid", `The list names the model "${id}" twice.`);
    }
    seen.add(id);
  }
}
