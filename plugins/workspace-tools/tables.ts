import type { ColumnType } from "kysely";
import type { ToolSpec } from "#kernel/tools/tool.ts";
import type { PluginContext, PluginDatabase } from "#kernel/plugin.ts";

type Json<T> = ColumnType<T, unknown, unknown>;

/** A function of a workspace tool, as its code declares it. */
export interface StoredSpec extends ToolSpec {
  /** The exported function to call, as the sandbox names it. */
  readonly entry: string;
  /** It only reads: calls of one round may run side by side. */
  readonly parallel?: boolean;
  readonly title?: string;
  /** Names of its arguments in order, where it takes them one by one and not as one object. */
  readonly positions?: readonly string[];
}

/** A workspace tool. `valves` is an object, or a sealed text with ENABLE_VALVE_ENCRYPTION. */
export interface ToolTable {
  id: string;
  user_id: string;
  name: string;
  content: string;
  specs: Json<readonly StoredSpec[]>;
  meta: Json<Record<string, unknown>>;
  valves: Json<Record<string, unknown> | string>;
  /** Version of its code that it has now. */
  version: number;
  /** Why the server took it out of use; null while nothing is wrong. */
  error: string | null;
  /** The capabilities that an administrator agreed to. */
  approved: Json<unknown>;
  /** The question for administrators; null while none waits. */
  pending: Json<Pending | null>;
  created_at: number;
  updated_at: number;
}

/** What an administrator is asked to agree to (contract D.40). */
export interface Pending {
  readonly reasons: readonly string[];
  readonly asked_at: number;
}

/** Earlier code with its author. */
export interface ToolVersionTable {
  tool_id: string;
  version: number;
  content: string;
  user_id: string;
  created_at: number;
}

/** Values of `host.storage`. An empty user_id stands for those that all callers share. */
export interface ToolStorageTable {
  tool_id: string;
  user_id: string;
  key: string;
  value: Json<unknown>;
  size: number;
  updated_at: number;
}

export interface ToolTables {
  tool: ToolTable;
  tool_version: ToolVersionTable;
  tool_storage: ToolStorageTable;
}

/** Where `host.storage` keeps the values of tools. */
export const toolStorage = { owner: "tool", values: "tool_storage", ownerId: "tool_id" } as const;

export type ToolsDatabase = PluginDatabase<ToolTables>;
export type ToolsTransaction = PluginContext<never, never, ToolTables>["transaction"];
