import { definePlugin } from "#kernel/plugin.ts";
import { fill } from "#kernel/service.ts";
import { accessPreviews } from "#plugins/accounts/service.ts";
import { createCatalogue } from "./catalogue.ts";
import { toolRoutes } from "./routes.ts";
import { toolListings } from "./service.ts";

export default definePlugin({
  id: "tools",
  title: "Tools",
  summary: "The list of tools that people may choose, whatever brings them.",
  uses: { listings: toolListings },
  setup({ use }) {
    const catalogue = createCatalogue(() => use.listings.list());
    return {
      routes: { api: toolRoutes(catalogue) },
      fills: [
        fill(accessPreviews, {
          kind: "tools",
          list: async (principal) => (await catalogue.list(principal)).map(({ id, name }) => ({ id, name })),
        }),
      ],
    };
  },
});
