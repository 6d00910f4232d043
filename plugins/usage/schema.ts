import { z } from "zod";
import { PeriodQuery } from "./period.ts";

/** What chooses the usage that administrators look at. */
export const AnalyticsQuery = PeriodQuery.extend({ group_id: z.string().max(256).optional() });

const Count = z.number().int();
const Sums = {
  count: Count,
  failed: Count,
  estimated: Count,
  input_tokens: Count,
  output_tokens: Count,
  cached_tokens: Count,
  reasoning_tokens: Count,
  total_tokens: Count,
};
const { count: _count, ...Tokens } = Sums;
const Model = z.object({ model_id: z.string(), ...Sums });
const CountedDay = z.object({ date: z.string(), count: Count });

export const OwnUsage = z
  .object({
    period: z.object({ start_date: z.string(), end_date: z.string(), days: Count }),
    totals: z.object({ ...Sums, chats: Count, models: Count }),
    heatmap: z.array(CountedDay.extend({ total_tokens: Count })),
    insights: z.object({
      active_days: Count,
      current_streak: Count,
      longest_streak: Count,
      busiest_day: CountedDay.nullable(),
      busiest_hour: Count.nullable(),
      tokens_per_active_day: Count,
    }),
    top_models: z.array(Model),
    top_tools: z.array(z.object({ name: z.string(), count: Count })),
  })
  .meta({ id: "OwnUsage" });

export const ModelsAnswer = z.object({
  models: z.array(Model.extend({ unique_users: Count, unique_chats: Count })),
});

export const UsersAnswer = z.object({
  users: z.array(
    z.object({
      /** Null for the accounts that are gone, all together. */
      user_id: z.string().nullable(),
      name: z.string().nullable(),
      email: z.string().nullable(),
      ...Sums,
      models: z.array(Model),
    }),
  ),
});

export const SummaryAnswer = z.object({
  total_messages: Count,
  total_chats: Count,
  total_models: Count,
  total_users: Count,
  ...Tokens,
});

export const DailyAnswer = z.object({
  data: z.array(
    z.object({
      date: z.string(),
      models: z.record(z.string(), Count),
      tokens: z.record(z.string(), Count),
    }),
  ),
});

export const ReportAnswer = z.object({
  data: z.array(
    z.object({
      key: z.string().nullable(),
      name: z.string().nullable(),
      count: Count,
      failed: Count,
      input_tokens: Count,
      output_tokens: Count,
      cached_tokens: Count,
      total_tokens: Count,
      mean_ms: Count.nullable(),
      costs: z.array(z.object({ currency: z.string(), amount: z.number() })),
      unpriced: Count,
    }),
  ),
});

export const TokensAnswer = z.object({
  models: z.array(z.object({ model_id: z.string(), message_count: Count, ...Tokens })),
  total_input_tokens: Count,
  total_output_tokens: Count,
  total_cached_tokens: Count,
  total_reasoning_tokens: Count,
  total_tokens: Count,
});

export const MessagesAnswer = z.array(
  z.object({
    id: z.string(),
    created_at: Count,
    user_id: z.string().nullable(),
    role: z.literal("assistant"),
    model_id: z.string(),
    base_model_id: z.string(),
    provider: z.string(),
    connection: z.string().nullable(),
    wire: z.string(),
    task: z.string().nullable(),
    chat_id: z.string().nullable(),
    message_id: z.string().nullable(),
    usage: z.object({ input_tokens: Count, output_tokens: Count, total_tokens: Count }),
    cached_tokens: Count,
    reasoning_tokens: Count,
    estimated: z.boolean(),
    duration_ms: Count,
    first_token_ms: Count.nullable(),
    outcome: z.string(),
    tools: z.array(z.string()),
  }),
);
