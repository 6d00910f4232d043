import type { ColumnType } from "kysely";
import type { PluginDatabase } from "#kernel/plugin.ts";

type Json<T> = ColumnType<T, T | string, T | string>;

/** A saved model: a record over a base model, or (without base_model_id) one that edits a provider's model. */
export interface ModelTable {
  id: string;
  /** Empty when nobody owns it: records that plugins brought along, and shared ones whose author is gone. */
  user_id: string;
  base_model_id: string | null;
  name: string;
  /** The wire's `model` as it was sent; null counts as the id. */
  model: string | null;
  params: Json<Record<string, unknown>>;
  meta: Json<Record<string, unknown>>;
  is_active: boolean;
  created_at: number;
  updated_at: number;
}

/** Which records plugins brought along once; a record that an admin removed does not come back. */
export interface ModelSeedTable {
  id: string;
  created_at: number;
}

export interface ModelTables {
  model: ModelTable;
  model_seed: ModelSeedTable;
}

/** The plugin's database handle, or a transaction on it. */
export type ModelDatabase = PluginDatabase<ModelTables>;
