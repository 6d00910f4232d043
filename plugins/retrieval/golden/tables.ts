import type { ColumnType, Generated } from "kysely";
import type { PluginDatabase } from "#kernel/plugin.ts";
import type { Expected, LabSettings, QuestionResult } from "./schema.ts";

type Json<T> = ColumnType<T, string, string>;

/** A question with the passages that answer it. */
export interface GoldenQuestionTable {
  id: string;
  /** Counts up, as questions of one second have to stay in their order. */
  number: Generated<number>;
  user_id: string;
  question: string;
  files: string[];
  collections: string[];
  expected: Json<readonly Expected[]>;
  /** Epoch seconds. */
  created_at: number;
  updated_at: number;
}

/** What a search found for all questions of a person at one time. */
export interface GoldenRunTable {
  id: string;
  /** Counts up, as runs of one second have to stay in their order. */
  number: Generated<number>;
  user_id: string;
  settings: Json<LabSettings>;
  /** A question is answered when an expected passage is among so many. */
  k: number;
  results: Json<readonly QuestionResult[]>;
  created_at: number;
}

export interface GoldenTables {
  golden_question: GoldenQuestionTable;
  golden_run: GoldenRunTable;
}

export type GoldenDatabase = PluginDatabase<GoldenTables>;
