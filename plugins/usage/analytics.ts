import type { Accounts } from "#plugins/accounts/service.ts";
import {
  countChats,
  countChatsByModel,
  type CallFilter,
  listCalls,
  type StoredCall,
  sumByHour,
} from "./calls.ts";
import type { PriceList } from "./prices.ts";
import { createReport, type ReportKey } from "./report.ts";
import { type Range, type Sums, sumAll, sumBy } from "./sums.ts";
import type { UsageDatabase } from "./tables.ts";

export interface AnalyticsParts {
  readonly db: UsageDatabase;
  readonly accounts: Pick<Accounts, "summaries">;
  prices(modelIds: readonly string[]): Promise<PriceList>;
}

export type Analytics = ReturnType<typeof createAnalytics>;

/** What administrators see of everybody's usage (contract §10): numbers and ids, never what was said. */
export function createAnalytics(parts: AnalyticsParts) {
  const { db, accounts } = parts;
  return {
    report: async (range: Range, by: ReportKey) => ({ data: await createReport(parts, { by, range }) }),

    async models(range: Range) {
      const [models, pairs, chats] = await Promise.all([
        sumBy(db, ["model_id"], range),
        sumBy(db, ["model_id", "user_id"], range),
        countChatsByModel(db, range),
      ]);
      const users = Map.groupBy(pairs, ({ model_id: id }) => id);
      return {
        models: models.map((model) => ({
          ...model,
          unique_users: users.get(model.model_id)?.length ?? 0,
          unique_chats: chats.get(model.model_id) ?? 0,
        })),
      };
    },

    async users(range: Range, limit: number) {
      const users = (await sumBy(db, ["user_id"], range)).slice(0, limit);
      const [pairs, people] = await Promise.all([
        sumBy(db, ["user_id", "model_id"], range),
        accounts.summaries(users.flatMap(({ user_id: id }) => id ?? [])),
      ]);
      const models = Map.groupBy(pairs, ({ user_id: id }) => id);
      return {
        users: users.map((user) => ({
          ...user,
          name: people.get(user.user_id ?? "")?.name ?? null,
          email: people.get(user.user_id ?? "")?.email ?? null,
          models: (models.get(user.user_id) ?? []).map(({ user_id: _id, ...model }) => model),
        })),
      };
    },

    async summary(range: Range) {
      const [totals, models, users, chats] = await Promise.all([
        sumAll(db, range),
        sumBy(db, ["model_id"], range),
        sumBy(db, ["user_id"], range),
        countChats(db, range),
      ]);
      const { count, ...sums } = totals;
      return {
        total_messages: count,
        total_chats: chats,
        total_models: models.length,
        total_users: users.length,
        ...sums,
      };
    },

    async daily(range: Range, isHourly: boolean) {
      const rows = isHourly
        ? await sumByHour(db, range)
        : (await sumBy(db, ["day", "model_id"], range)).map(({ day, ...row }) => ({ ...row, date: day }));
      return {
        data: [...Map.groupBy(rows, ({ date }) => date)].map(([date, models]) => ({
          date,
          models: Object.fromEntries(models.map(({ model_id: id, count }) => [id, count])),
          tokens: Object.fromEntries(models.map(({ model_id: id, total_tokens: sum }) => [id, sum])),
        })),
      };
    },

    async tokens(range: Range) {
      const [models, totals] = await Promise.all([sumBy(db, ["model_id"], range), sumAll(db, range)]);
      return {
        models: models
          .toSorted((a, b) => b.total_tokens - a.total_tokens)
          .map(({ count, ...model }) => ({ ...model, message_count: count })),
        ...toTotals(totals),
      };
    },

    async messages(range: Range, filter: CallFilter) {
      const calls = await listCalls(db, range, filter);
      return calls.map(toCall);
    },
  };
}

function toTotals(sums: Sums) {
  return {
    total_input_tokens: sums.input_tokens,
    total_output_tokens: sums.output_tokens,
    total_cached_tokens: sums.cached_tokens,
    total_reasoning_tokens: sums.reasoning_tokens,
    total_tokens: sums.total_tokens,
  };
}

function toCall({ id, input_tokens: input, output_tokens: output, ...call }: StoredCall) {
  return {
    id,
    ...call,
    role: "assistant" as const,
    usage: { input_tokens: input, output_tokens: output, total_tokens: input + output },
  };
}
