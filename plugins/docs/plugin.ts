import { definePlugin } from "#kernel/plugin.ts";
import { declarations, deployment } from "#kernel/services.ts";
import { docsRoutes } from "./routes.ts";

export default definePlugin({
  id: "docs",
  title: "API documentation",
  summary: "Interactive documentation of the API, while the server runs for development.",
  uses: { declarations, deployment },
  setup({ use }) {
    const { isDev, version } = use.deployment;
    return { routes: docsRoutes({ isDev, version, routes: () => use.declarations.routes() }) };
  },
});
