import { z } from "zod";
import { AppError } from "#kernel/errors.ts";
import { defineRoute } from "#kernel/http/route.ts";
import { seconds } from "#storage/clock.ts";
import type { Analytics } from "./analytics.ts";
import type { toOwnUsage } from "./own.ts";
import { PeriodQuery, toPeriod } from "./period.ts";
import {
  AnalyticsQuery,
  DailyAnswer,
  MessagesAnswer,
  ModelsAnswer,
  OwnUsage,
  ReportAnswer,
  SummaryAnswer,
  TokensAnswer,
  UsersAnswer,
} from "./schema.ts";
import type { Range } from "./sums.ts";

export interface UsageRoutesOptions {
  own(range: Range): ReturnType<typeof toOwnUsage>;
  readonly analytics: Analytics;
  /** Writes the calls of this process that wait, so that an answer counts what has just ended. */
  flush(): Promise<void>;
  /** ENABLE_ADMIN_ANALYTICS. */
  isAllowed(): boolean;
}

/** Usage: everybody's own, and all of it for administrators (contract 1.3 and §10). */
export function usageRoutes(options: UsageRoutesOptions) {
  return [ownRoute(options), accountRoute(options), ...sumRoutes(options), ...listRoutes(options)];
}

function ownRoute({ own, flush }: UsageRoutesOptions) {
  return defineRoute(
    {
      method: "GET",
      path: "/users/usage",
      summary: "The caller's own usage of models: sums, days, models and tools",
      access: "user",
      query: PeriodQuery,
      returns: OwnUsage,
      fails: [400],
    },
    async ({ caller, query }) => {
      await flush();
      return await own({ period: toPeriod(query, seconds()), whose: { userId: caller.userId } });
    },
  );
}

function accountRoute({ own, flush, isAllowed }: UsageRoutesOptions) {
  return defineRoute(
    {
      method: "GET",
      path: "/analytics/users/:id",
      summary: "Usage of one account: sums, days, models and tools",
      access: "admin",
      params: z.object({ id: z.string().min(1).max(256) }),
      query: PeriodQuery,
      returns: OwnUsage,
      fails: [400, 403],
    },
    async ({ params, query }) => {
      requireAllowed(isAllowed());
      await flush();
      return await own({ period: toPeriod(query, seconds()), whose: { userId: params.id } });
    },
  );
}

function sumRoutes(options: UsageRoutesOptions) {
  const { analytics } = options;
  const common = { method: "GET", access: "admin", fails: [400, 403] } as const;
  const Daily = AnalyticsQuery.extend({ granularity: z.enum(["daily", "hourly"]).default("daily") });
  const Report = AnalyticsQuery.extend({ by: z.enum(["day", "model", "user", "group"]) });
  return [
    defineRoute(
      {
        ...common,
        path: "/analytics/summary",
        summary: "Sums of all usage",
        query: AnalyticsQuery,
        returns: SummaryAnswer,
      },
      async ({ query }) => await analytics.summary(await toRange(query, options)),
    ),
    defineRoute(
      {
        ...common,
        path: "/analytics/models",
        summary: "Usage by model",
        query: AnalyticsQuery,
        returns: ModelsAnswer,
      },
      async ({ query }) => await analytics.models(await toRange(query, options)),
    ),
    defineRoute(
      {
        ...common,
        path: "/analytics/tokens",
        summary: "Tokens by model",
        query: AnalyticsQuery,
        returns: TokensAnswer,
      },
      async ({ query }) => await analytics.tokens(await toRange(query, options)),
    ),
    defineRoute(
      {
        ...common,
        path: "/analytics/daily",
        summary: "Usage by day, or by hour as far back as single calls are kept",
        query: Daily,
        returns: DailyAnswer,
      },
      async ({ query }) =>
        await analytics.daily(await toRange(query, options), query.granularity === "hourly"),
    ),
    defineRoute(
      {
        ...common,
        path: "/analytics/report",
        summary: "Usage with durations and costs, by day, model, account or group",
        query: Report,
        returns: ReportAnswer,
      },
      async ({ query }) => await analytics.report(await toRange(query, options), query.by),
    ),
  ];
}

function listRoutes(options: UsageRoutesOptions) {
  const { analytics } = options;
  const common = { method: "GET", access: "admin", fails: [400, 403] } as const;
  const Users = AnalyticsQuery.extend({ limit: z.coerce.number().int().min(1).max(1000).default(50) });
  const Messages = AnalyticsQuery.extend({
    model_id: z.string().max(1024).optional(),
    user_id: z.string().max(256).optional(),
    chat_id: z.string().max(1024).optional(),
    skip: z.coerce.number().int().min(0).max(10_000_000).default(0),
    limit: z.coerce.number().int().min(1).max(100).default(50),
  });
  return [
    defineRoute(
      {
        ...common,
        path: "/analytics/users",
        summary: "Usage by account",
        query: Users,
        returns: UsersAnswer,
      },
      async ({ query }) => await analytics.users(await toRange(query, options), query.limit),
    ),
    defineRoute(
      {
        ...common,
        path: "/analytics/messages",
        summary: "Single model calls, newest first, without what was said",
        query: Messages,
        returns: MessagesAnswer,
      },
      async ({ query: { skip, limit, model_id: modelId, chat_id: chatId, ...query } }) =>
        await analytics.messages(await toRange(query, options), { modelId, chatId, skip, limit }),
    ),
  ];
}

async function toRange(
  query: z.output<typeof AnalyticsQuery> & { user_id?: string | undefined },
  { flush, isAllowed }: UsageRoutesOptions,
): Promise<Range> {
  requireAllowed(isAllowed());
  await flush();
  return {
    period: toPeriod(query, seconds()),
    whose: { userId: query.user_id, groupId: query.group_id },
  };
}

function requireAllowed(isAllowed: boolean): void {
  if (!isAllowed) {
    throw new AppError("forbidden", "Analytics are switched off.");
  }
}
