import { definePlugin } from "#kernel/plugin.ts";
import { declarations } from "#kernel/services.ts";
import { pageRoutes } from "./page-routes.ts";
import { warnOfMissingModules } from "./modules.ts";
import { startRoutes } from "./start-routes.ts";

export default definePlugin({
  id: "web",
  title: "Web pages",
  uses: { declarations },
  async setup({ use, log }) {
    const pages = use.declarations.pages();
    const { list, module } = pageRoutes(pages);
    const paths = pages.map(({ page }) => page.path);
    return {
      routes: { main: [...(await startRoutes(paths)), module], api: [list] },
      start: () => warnOfMissingModules(pages, log),
    };
  },
});
