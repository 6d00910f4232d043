import { modelCallEnded } from "#kernel/completion/model-call.ts";
import { definePlugin, tables } from "#kernel/plugin.ts";
import { events } from "#kernel/services.ts";
import { optional } from "#kernel/service.ts";
import { accounts } from "#plugins/accounts/service.ts";
import { models } from "#plugins/models/service.ts";
import { createAnalytics } from "./analytics.ts";
import { usageVariables } from "./config.ts";
import { createLedger } from "./ledger.ts";
import { migration as usage0001 } from "./migrations/0001_usage.ts";
import { qualifyUsageFunctions } from "./migrations/0002_qualified_names.ts";
import { toOwnUsage } from "./own.ts";
import { readPrices } from "./prices.ts";
import { toRecord } from "./record.ts";
import { usageRoutes } from "./routes.ts";
import { dropOldRecords, insertBatch } from "./store.ts";
import type { UsageTables } from "./tables.ts";

export default definePlugin({
  id: "usage",
  title: "Usage",
  summary: "Counts tokens by day, model and person.",
  config: usageVariables,
  uses: { accounts, events, models: optional(models) },
  tables: tables<UsageTables>("usage_batch", "usage_day"),
  migrations: { "0001_usage": usage0001, "0002_qualified_names": qualifyUsageFunctions },
  pages: [
    {
      id: "usage.own",
      path: "/settings/usage",
      title: "Usage",
      icon: "chart",
      place: "settings",
      order: 5,
      access: "user",
    },
    {
      id: "usage.analytics",
      path: "/admin/analytics",
      title: "Analytics",
      icon: "chart",
      place: "admin",
      group: "reports",
      order: 50,
      access: "admin",
    },
  ],

  setup({ config, use, db, log }) {
    const ledger = createLedger({
      insert: (batch) => insertBatch(db, batch),
      limit: () => config.bufferSize,
      log,
    });
    return {
      routes: {
        api: usageRoutes({
          own: (range) => toOwnUsage(db, range),
          analytics: createAnalytics({
            db,
            accounts: use.accounts,
            prices: (ids) => readPrices(async (id) => use.models?.resolveAsInstance(id), ids),
          }),
          flush: ledger.flush,
          isAllowed: () => config.analytics,
        }),
      },
      jobs: [
        {
          id: "usage.retention",
          title: "Removes usage records past their retention",
          every: 3600,
          run: () => dropOldRecords(db, config.keepDays),
        },
      ],
      start: () => void use.events.on(modelCallEnded, (call) => ledger.add(toRecord(call))),
      stop: () => ledger.flush(),
    };
  },
});
