import type { ColumnType, Generated, Selectable } from "kysely";
import type { PluginContext, PluginDatabase } from "#kernel/plugin.ts";

type Json<T> = ColumnType<T, unknown, unknown>;
type Bag = Readonly<Record<string, unknown>>;

/** The resource_type of grants on prompts. */
export const resourceType = "prompt";

/** A prompt as it is used now. `command` stands without its slash. */
export interface PromptTable {
  id: string;
  command: string;
  user_id: string;
  name: string;
  content: string;
  data: Json<Bag>;
  meta: Json<Bag>;
  tags: Json<readonly string[]>;
  is_active: boolean;
  /** The version in use; null while every version is a draft. */
  version_id: string | null;
  created_at: number;
  updated_at: number;
}

/** The texts of a prompt at one time. */
export interface Snapshot {
  readonly name: string;
  readonly command: string;
  readonly content: string;
  readonly data: Bag;
  readonly meta: Bag;
  readonly tags: readonly string[];
}

/** One version; `parent_id` is the version that was in use when it was written. */
export interface PromptHistoryTable {
  /** Order of versions that were stored within one second. */
  seq: Generated<number>;
  id: string;
  prompt_id: string;
  parent_id: string | null;
  snapshot: Json<Snapshot>;
  user_id: string;
  commit_message: string | null;
  created_at: number;
}

export interface PromptTables {
  prompt: PromptTable;
  prompt_history: PromptHistoryTable;
}

export type PromptRow = Selectable<PromptTable>;
export type HistoryRow = Selectable<PromptHistoryTable>;
export type PromptDatabase = PluginDatabase<PromptTables>;
export type PromptTransaction = PluginContext<never, never, PromptTables>["transaction"];
