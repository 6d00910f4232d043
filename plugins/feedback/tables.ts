import type { ColumnType } from "kysely";
import type { PluginDatabase } from "#kernel/plugin.ts";
import type { FeedbackMeta, RatingData, Snapshot } from "./schema.ts";

/** A jsonb column; written as an object. */
type Json<T> = ColumnType<T, T, T>;

/** What one account thinks of one reply (configuration document, Feedback). */
export interface FeedbackTable {
  id: string;
  user_id: string;
  version: ColumnType<number, never, never>;
  type: string;
  data: Json<RatingData>;
  meta: Json<FeedbackMeta>;
  /** The chat as it was when the reply was rated. */
  snapshot: Json<Snapshot | null>;
  created_at: number;
  updated_at: number;
}

export interface FeedbackTables {
  feedback: FeedbackTable;
}

/** The plugin's database handle, or a transaction on it. */
export type FeedbackDatabase = PluginDatabase<FeedbackTables>;
