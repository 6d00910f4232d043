import { definePlugin } from "#kernel/plugin.ts";
import { optional } from "#kernel/service.ts";
import { egress } from "#kernel/services.ts";
import { accounts } from "#plugins/accounts/service.ts";
import { completions } from "#plugins/completions/service.ts";
import { models } from "#plugins/models/service.ts";
import { messageFormat } from "#plugins/provider-message/service.ts";
import { createLongLabels } from "./call-labels.ts";
import { createMessages } from "./messages.ts";
import { messageRoutes } from "./routes.ts";

export default definePlugin({
  id: "messages",
  title: "Vendor message API",
  summary: "Answers clients that speak the vendor's message format.",
  uses: { accounts, completions, egress, format: optional(messageFormat), models },

  setup({ use, log }) {
    const messages = createMessages({
      models: use.models,
      completions: use.completions,
      egress: use.egress,
      longLabels: createLongLabels(),
      format: use.format,
      log,
      findProfile: (principal) => use.accounts.templateFacts(principal),
    });
    return { routes: messageRoutes(messages) };
  },
});
