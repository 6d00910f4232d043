import { core } from "#config/core.ts";
import { access } from "#kernel/access/resource.ts";
import { definePlugin, tables } from "#kernel/plugin.ts";
import { provide } from "#kernel/service.ts";
import { accounts } from "#plugins/accounts/service.ts";
import { completions } from "#plugins/completions/service.ts";
import { models } from "#plugins/models/service.ts";
import { createStoredItems } from "./stored-items.ts";
import { createItems } from "./migrations/0001_items.ts";
import { createResponses } from "./responses.ts";
import { responsesFormat } from "./service.ts";
import type { ResponseTables } from "./tables.ts";

export default definePlugin({
  id: "responses",
  title: "Responses format",
  summary: "Answers clients that speak the Responses format.",
  config: { stateful: core.statefulResponses },
  uses: { access, accounts, completions, models },
  provides: [responsesFormat],
  tables: tables<ResponseTables>("response_item"),
  migrations: { "0001_items": createItems },

  setup({ config, use, db, log }) {
    const items = createStoredItems({ db, access: use.access, log });
    const format = createResponses({
      ...use,
      items,
      log,
      findProfile: (principal) => use.accounts.templateFacts(principal),
      isStateful: () => config.stateful,
    });
    return {
      services: [provide(responsesFormat, format)],
      jobs: [
        {
          id: "responses.items",
          title: "Removes expired responses of the Responses API",
          every: 60,
          run: () => items.sweep(),
        },
      ],
    };
  },
});
