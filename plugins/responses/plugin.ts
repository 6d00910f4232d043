import { core } from "#config/core.ts";
import { definePlugin } from "#kernel/plugin.ts";
import { provide } from "#kernel/service.ts";
import { accounts } from "#plugins/accounts/service.ts";
import { completions } from "#plugins/completions/service.ts";
import { models } from "#plugins/models/service.ts";
import { createResponses } from "./responses.ts";
import { responsesFormat } from "./service.ts";

export default definePlugin({
  id: "responses",
  title: "Responses format",
  config: { stateful: core.statefulResponses },
  uses: { accounts, completions, models },
  provides: [responsesFormat],

  setup({ config, use, log }) {
    const format = createResponses({
      ...use,
      log,
      findProfile: (principal) => use.accounts.templateFacts(principal),
      isStateful: () => config.stateful,
    });
    return { services: [provide(responsesFormat, format)] };
  },
});
