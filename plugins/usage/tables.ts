import type { Generated } from "kysely";
import type { PluginDatabase } from "#kernel/plugin.ts";

/** One model call. */
export interface UsageRecord {
  /** Epoch seconds at which the call began. */
  created_at: number;
  /** Null once the account is gone. */
  user_id: string | null;
  /** As the caller named it. */
  model_id: string;
  base_model_id: string;
  provider: string;
  connection: string | null;
  wire: string;
  task: string | null;
  chat_id: string | null;
  message_id: string | null;
  input_tokens: number;
  output_tokens: number;
  cached_tokens: number;
  reasoning_tokens: number;
  /** The upstream did not count: characters did. */
  estimated: boolean;
  duration_ms: number;
  first_token_ms: number | null;
  outcome: string;
  /** Names of the tools that the model called. */
  tools: string[];
}

/** What one account spent on one model in one day (UTC). */
export interface UsageDayTable {
  /** `YYYY-MM-DD`. */
  day: string;
  user_id: string | null;
  model_id: string;
  provider: string;
  calls: Generated<number>;
  failed: Generated<number>;
  estimated: Generated<number>;
  input_tokens: Generated<number>;
  output_tokens: Generated<number>;
  cached_tokens: Generated<number>;
  reasoning_tokens: Generated<number>;
  duration_ms: Generated<number>;
}

/**
 * Records that were written together: each of their fields as an array, in which a record has the same place. Where all
 * have the same value it stands there once.
 */
export type UsageBatchTable = {
  id: string;
  /** Number of records. */
  calls: number;
  /** `created_at` of the earliest and of the latest call. */
  first_at: number;
  last_at: number;
  /** Everybody in `user_id`, once. */
  users: string[];
} & { [K in Exclude<keyof UsageRecord, "tools">]: UsageRecord[K][] } & {
  /** Each an array's text: arrays of arrays would have to be equally long. */
  tools: string[];
};

export interface UsageTables {
  usage_batch: UsageBatchTable;
  usage_day: UsageDayTable;
}

export type UsageDatabase = PluginDatabase<UsageTables>;
