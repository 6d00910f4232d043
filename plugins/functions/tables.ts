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
  /** The capabilities of the code that an administrator last switched on. */
  approved: Json<unknown>;
  /** What its author asked administrators for; null while nothing waits. */
  pending: Json<Pending | null>;
  created_at: number;
  updated_at: number;
}

/** A question for administrators: to switch the function on, to use it for all models, or both. */
export interface Pending {
  readonly active?: boolean;
  readonly global?: boolean;
  /** Capabilities and the type that need the yes. */
  readonly reasons: readonly string[];
  readonly asked_at: number;
}

/** A call of a function with the result that its author expects at each save. */
export interface FunctionSampleTable {
  id: string;
  function_id: string;
  name: string;
  call: Json<Record<string, unknown>>;
  expected: Json<unknown>;
  user_id: string;
  created_at: number;
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
  function_sample: FunctionSampleTable;
}

/** Where `host.storage` keeps the values of functions. */
export const functionStorage = {
  owner: "function",
  values: "function_storage",
  ownerId: "function_id",
} as const;

export type FunctionsDatabase = PluginDatabase<FunctionTables>;
export type FunctionsTransaction = PluginContext<never, never, FunctionTables>["transaction"];
