import type { ColumnType, Selectable } from "kysely";
import type { PluginDatabase } from "#kernel/plugin.ts";

/** Lists are written as JSON texts (`toJson`). */
type Json<T> = ColumnType<T, unknown, unknown>;

/** A program that joins channels. Times are epoch seconds. */
export interface AppTable {
  id: string;
  /** The account of its bot; goes with the app. */
  user_id: string;
  name: string;
  description: string;
  /** Address that events are posted to; null for an app that only calls. */
  url: string | null;
  /** Address that the manifest was loaded from; null for one that was typed in. */
  manifest_url: string | null;
  scopes: Json<readonly string[]>;
  events: Json<readonly string[]>;
  enabled: boolean;
  /** Says why the platform switched it off; null where a person did, and while it is on. */
  disabled_reason: string | null;
  /** Deliveries in a row that were given up. */
  failures: number;
  sealed_secret: string;
  /** SHA-256 of the key in hex; null without a key. */
  key_hash: string | null;
  /** Last four characters of the key. */
  key_hint: string | null;
  key_created_at: number | null;
  created_by: string | null;
  created_at: number;
  updated_at: number;
}

export interface AppTables {
  app: AppTable;
}

export type AppRow = Selectable<AppTable>;

/** The plugin's database handle, or a transaction on it. */
export type AppDatabase = PluginDatabase<AppTables>;
