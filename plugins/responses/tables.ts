import type { PluginDatabase } from "#kernel/plugin.ts";

/** An item of an answer that its caller may name by id for a while. */
export interface ResponseItemTable {
  id: string;
  user_id: string;
  /** JSON text; no query looks into it. */
  item: string;
  /** Characters of that text. */
  size: number;
  created_at: number;
}

export interface ResponseTables {
  response_item: ResponseItemTable;
}

/** The plugin's database handle. */
export type ResponseDatabase = PluginDatabase<ResponseTables>;
