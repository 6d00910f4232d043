import type { ColumnType } from "kysely";
import type { PluginDatabase } from "#kernel/plugin.ts";
import type { MemoryMeta, Origin, Remembered } from "./schema.ts";

/** A jsonb column; written as an object. */
type Json<T> = ColumnType<T, T, T>;

/** One thing that models remember about a person. */
export interface MemoryTable {
  id: string;
  user_id: string;
  type: "user" | "context";
  /** Segments between slashes; null for memories that lie in no place. */
  path: string | null;
  content: string;
  meta: Json<MemoryMeta>;
  created_at: number;
  updated_at: number;
}

/** A change of a memory, so that it can be undone. */
export interface MemoryChangeTable {
  id: string;
  user_id: string;
  memory_id: string;
  action: "add" | "replace" | "move" | "remove" | "keep";
  before: Json<Remembered | null>;
  after: Json<Remembered | null>;
  source: Json<Origin>;
  undone_at: number | null;
  created_at: number;
  /** Orders changes of one second. */
  sequence: ColumnType<number, never, never>;
}

export interface MemoryTables {
  memory: MemoryTable;
  memory_change: MemoryChangeTable;
}

/** The plugin's database handle, or a transaction on it. */
export type MemoryDatabase = PluginDatabase<MemoryTables>;
