import { sql } from "kysely";
import { seconds } from "#storage/clock.ts";
import { notifyWith } from "#storage/notify.ts";
import { anyOf, toJson } from "#storage/values.ts";
import type { ModelDatabase } from "../tables.ts";

/** Announced with the commit of every change of a record. */
export const modelsChannel = "models";

/** A row without its picture's bytes. */
export interface ModelRow {
  readonly id: string;
  readonly user_id: string;
  readonly base_model_id: string | null;
  readonly name: string;
  /** As sent; null counts as the id. */
  readonly model: string | null;
  readonly params: Record<string, unknown>;
  readonly meta: Record<string, unknown>;
  /** `meta.profile_image_url`, of an inline image the beginning only; null for none. */
  readonly picture: string | null;
  readonly is_active: boolean;
  readonly created_at: number;
  readonly updated_at: number;
}

/** Columns to write; `picture` undefined keeps the stored one. */
export interface ModelValues {
  readonly base_model_id: string | null;
  readonly name: string;
  readonly model: string | null;
  readonly params: Readonly<Record<string, unknown>>;
  readonly meta: Readonly<Record<string, unknown>>;
  readonly picture: string | null | undefined;
  readonly is_active: boolean;
}

const columns = [
  "model.id",
  "model.user_id",
  "model.base_model_id",
  "model.name",
  "model.model",
  "model.params",
  "model.is_active",
  "model.created_at",
  "model.updated_at",
] as const;

/** The columns of a ModelRow, for lists that choose and order by themselves. */
export function selectRows(db: ModelDatabase) {
  return db
    .selectFrom("model")
    .select(columns)
    .select(sql<Record<string, unknown>>`model.meta - 'profile_image_url'`.as("meta"))
    .select(sql<string | null>`left(model.meta ->> 'profile_image_url', 2100)`.as("picture"));
}

/** The row for an id; an id the database cannot hold is that of no row. */
export async function findRow(db: ModelDatabase, id: string): Promise<ModelRow | undefined> {
  return id.includes("\0") ? undefined : await selectRows(db).where("model.id", "=", id).executeTakeFirst();
}

export async function findRows(db: ModelDatabase, ids: readonly string[]): Promise<ModelRow[]> {
  return await selectRows(db).where("model.id", "=", anyOf(ids)).orderBy("model.id").execute();
}

/** The rows, locked in the order of their ids until the transaction ends. */
export async function lockRows(tx: ModelDatabase, ids: readonly string[]): Promise<ModelRow[]> {
  return await selectRows(tx).where("model.id", "=", anyOf(ids)).orderBy("model.id").forUpdate().execute();
}

/** The stored picture, whole. */
export async function findPicture(db: ModelDatabase, id: string): Promise<string | null> {
  const query = db.selectFrom("model").select(sql<string | null>`meta ->> 'profile_image_url'`.as("picture"));
  return (await query.where("id", "=", id).executeTakeFirst())?.picture ?? null;
}

/** False when the id is taken. */
export async function insertRow(
  tx: ModelDatabase,
  row: { id: string; userId: string },
  values: ModelValues,
): Promise<boolean> {
  const now = seconds();
  const { picture, meta, params, ...rest } = values;
  const inserted = await tx
    .insertInto("model")
    .values({
      ...rest,
      id: row.id,
      user_id: row.userId,
      params: toJson(params),
      meta: toJson(picture ? { ...meta, profile_image_url: picture } : meta),
      created_at: now,
      updated_at: now,
    })
    .onConflict((conflict) => conflict.doNothing())
    .returning("id")
    .executeTakeFirst();
  await notifyWith(tx, modelsChannel, {});
  return inserted !== undefined;
}

export async function updateRow(tx: ModelDatabase, id: string, values: ModelValues): Promise<void> {
  const { picture, meta, params, ...rest } = values;
  const written = toJson(picture ? { ...meta, profile_image_url: picture } : meta);
  const kept = sql`case when jsonb_exists(meta, 'profile_image_url')
    then jsonb_build_object('profile_image_url', meta -> 'profile_image_url') else '{}'::jsonb end`;
  await tx
    .updateTable("model")
    .set({
      ...rest,
      params: toJson(params),
      meta: picture === undefined ? sql`${written} || ${kept}` : written,
      updated_at: seconds(),
    })
    .where("id", "=", id)
    .execute();
  await notifyWith(tx, modelsChannel, {});
}

export async function setActive(tx: ModelDatabase, id: string): Promise<boolean | undefined> {
  const row = await tx
    .updateTable("model")
    .set((eb) => ({ is_active: eb.not("is_active"), updated_at: seconds() }))
    .where("id", "=", id)
    .returning("is_active")
    .executeTakeFirst();
  await notifyWith(tx, modelsChannel, {});
  return row?.is_active;
}

/** Resolves to the ids that were there. */
export async function deleteRows(tx: ModelDatabase, ids: readonly string[]): Promise<string[]> {
  const rows = await tx.deleteFrom("model").where("id", "=", anyOf(ids)).returning("id").execute();
  await notifyWith(tx, modelsChannel, {});
  return rows.map(({ id }) => id);
}

export async function allIds(db: ModelDatabase): Promise<string[]> {
  return (await db.selectFrom("model").select("id").orderBy("id").execute()).map(({ id }) => id);
}

/** Those of some ids that rows have. */
export async function existingIds(db: ModelDatabase, ids: readonly string[]): Promise<string[]> {
  const rows = await db.selectFrom("model").select("id").where("id", "=", anyOf(ids)).execute();
  return rows.map(({ id }) => id);
}

/** Stores a record that a plugin brings along, once ever; false when it was brought along before. */
export async function insertSeed(
  tx: ModelDatabase,
  { id, name, meta, params }: { id: string; name: string; meta: object; params: object },
): Promise<boolean> {
  const first = await tx
    .insertInto("model_seed")
    .values({ id, created_at: seconds() })
    .onConflict((conflict) => conflict.doNothing())
    .returning("id")
    .executeTakeFirst();
  if (first === undefined) {
    return false;
  }
  const values = { base_model_id: null, name, model: null, picture: null, is_active: true };
  const bags = { meta: meta as Record<string, unknown>, params: params as Record<string, unknown> };
  return await insertRow(tx, { id, userId: "" }, { ...values, ...bags });
}
