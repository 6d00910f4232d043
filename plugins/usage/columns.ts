import type { UsageRecord } from "./tables.ts";

/** Columns of a record and the types of their values. */
export const recordTypes = {
  created_at: "bigint",
  user_id: "text",
  model_id: "text",
  base_model_id: "text",
  provider: "text",
  connection: "text",
  wire: "text",
  task: "text",
  chat_id: "text",
  message_id: "text",
  input_tokens: "bigint",
  output_tokens: "bigint",
  cached_tokens: "bigint",
  reasoning_tokens: "bigint",
  estimated: "boolean",
  duration_ms: "bigint",
  first_token_ms: "bigint",
  outcome: "text",
  tools: "text",
} as const satisfies Record<keyof UsageRecord, string>;

/** Columns of a record, in the order in which they are sent. */
export const recordColumns = Object.keys(recordTypes) as (keyof UsageRecord)[];
