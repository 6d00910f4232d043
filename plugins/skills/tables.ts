import type { ColumnType, Selectable } from "kysely";
import type { PluginContext, PluginDatabase } from "#kernel/plugin.ts";

type Json<T> = ColumnType<T, unknown, unknown>;

/** The resource_type of grants on skills. */
export const resourceType = "skill";

/** A set of instructions in Markdown. `meta.tags` names what it is about. */
export interface SkillTable {
  id: string;
  user_id: string;
  name: string;
  description: string;
  content: string;
  meta: Json<Readonly<Record<string, unknown>>>;
  is_active: boolean;
  created_at: number;
  updated_at: number;
}

/** A file that belongs to a skill; its path is relative and has been checked. */
export interface SkillFileTable {
  skill_id: string;
  path: string;
  content: Uint8Array;
  size: number;
}

export interface SkillTables {
  skill: SkillTable;
  skill_file: SkillFileTable;
}

export type SkillRow = Selectable<SkillTable>;
export type SkillDatabase = PluginDatabase<SkillTables>;
export type SkillTransaction = PluginContext<never, never, SkillTables>["transaction"];
