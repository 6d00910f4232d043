import { text } from "#config/variable.ts";
import { definePlugin, tables } from "#kernel/plugin.ts";
import { egress } from "#kernel/services.ts";
import { accounts } from "#plugins/accounts/service.ts";
import { createPreviewTable } from "./migrations/0001_previews.ts";
import { createPreviews } from "./previews.ts";
import { pictureRoute } from "./picture-route.ts";
import { createPictures } from "./pictures.ts";
import { previewRoutes } from "./routes.ts";
import type { PreviewTables } from "./tables.ts";

export default definePlugin({
  id: "previews",
  title: "Previews",
  summary: "Shows documents that models wrote in frames without rights.",
  config: {
    iframeCsp: text("IFRAME_CSP", "", {
      text: "Content security policy of previews of HTML in place of the built-in one, which lets them load nothing; their sandbox stays.",
    }),
  },
  // The database takes an account's previews along.
  uses: { accounts, egress },
  tables: tables<PreviewTables>("preview"),
  migrations: { "0001_previews": createPreviewTable },

  async setup({ config, db, use }) {
    const previews = createPreviews(db);
    const { api, main } = previewRoutes(previews, () => config.iframeCsp);
    return {
      routes: { api: [...api, pictureRoute(createPictures(use.egress))], main },
      jobs: [
        {
          id: "previews.sweep",
          title: "Removes expired previews",
          every: 600,
          run: () => previews.dropExpired(),
        },
      ],
    };
  },
});
