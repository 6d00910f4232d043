import { core } from "#config/core.ts";
import { definePlugin } from "#kernel/plugin.ts";
import { completions } from "#plugins/completions/service.ts";
import { models } from "#plugins/models/service.ts";
import { createResponses } from "./responses.ts";
import { responsesRoutes } from "./routes.ts";

export default definePlugin({
  id: "responses",
  title: "Responses format",
  config: { stateful: core.statefulResponses },
  uses: { completions, models },

  setup({ config, use }) {
    const responses = createResponses({ ...use, isStateful: () => config.stateful });
    return { routes: { runtime: responsesRoutes(responses) } };
  },
});
