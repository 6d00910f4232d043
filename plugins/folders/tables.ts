import type { ColumnType } from "kysely";
import type { PluginDatabase } from "#kernel/plugin.ts";

type Json<T> = ColumnType<T, T, T>;
type Bag = Record<string, unknown>;

/** A folder for chats of its owner (configuration document, Folder). */
export interface FolderTable {
  id: string;
  user_id: string;
  /** A folder of the same owner; null at the root. */
  parent_id: string | null;
  name: string;
  /** Whatever clients keep here, as they sent it. */
  items: Json<unknown>;
  /** `{system_prompt, files, model_ids}` and further keys of clients. */
  data: Json<Bag>;
  /** `{icon}` and further keys of clients. */
  meta: Json<Bag>;
  is_expanded: boolean;
  created_at: number;
  updated_at: number;
}

export interface FolderTables {
  folder: FolderTable;
}

/** The plugin's database handle, or a transaction on it. */
export type FolderDatabase = PluginDatabase<FolderTables>;
