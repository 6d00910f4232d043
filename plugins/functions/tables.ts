import type { ColumnType } from "kysely";
import type { PluginContext, PluginDatabase } from "#kernel/plugin.ts";

type Json<T> = ColumnType<T, unknown, unknown>;

/** A user's function. `valves` is an object, or a sealed text with ENABLE_VALVE_ENCRYPTION. */
export interface FunctionTable {
  id: string;
  user_id: string;
  name: string;
  type: string;
  content: string;
  meta: Json<Record<string, unknown>>;
  valves: Json<Record<string, unknown> | string>;
  is_active: boolean;
  is_global: boolean;
  /** Version of its code that it has now. */
  version: number;
  /** Why the server switched it off; null while nothing is wrong. */
  error: string | null;
  created_at: number;
  updated_at: number;
}

/** Earlier code with its author. */
export interface FunctionVersionTable {
  function_id: string;
  version: number;
  content: string;
  user_id: string;
  created_at: number;
}

/** Values of `host.storage`. An empty user_id stands for those that all callers share. */
export interface FunctionStorageTable {
  function_id: string;
  user_id: string;
  key: string;
  value: Json<unknown>;
  size: number;
  updated_at: number;
}

export interface FunctionTables {
  function: FunctionTable;
  function_version: FunctionVersionTable;
  function_storage: FunctionStorageTable;
}

export type FunctionsDatabase = PluginDatabase<FunctionTables>;
export type FunctionsTransaction = PluginContext<never, never, FunctionTables>["transaction"];
