import type { ColumnType } from "kysely";
import type { PluginDatabase } from "#kernel/plugin.ts";

/** A picture that an engine made for a person; its bytes are a file. */
export interface MadePictureTable {
  file_id: string;
  user_id: string;
  kind: "generate" | "edit";
  prompt: string;
  engine: string;
  model: string;
  /** Such as 512x512; empty where the engine chose. */
  size: string;
  /** Unix seconds. */
  created_at: number;
  /** Orders pictures of one second. */
  sequence: ColumnType<number, never, never>;
}

export interface ImageTables {
  made_picture: MadePictureTable;
}

export type ImageDatabase = PluginDatabase<ImageTables>;
