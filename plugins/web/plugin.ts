import { definePlugin } from "#kernel/plugin.ts";
import { optional } from "#kernel/service.ts";
import { configuration, declarations, deployment, egress } from "#kernel/services.ts";
import { accounts } from "#plugins/accounts/service.ts";
import { createBrand } from "./brand.ts";
import { createBuiltInterface } from "./built-interface.ts";
import { config } from "./config.ts";
import { interfaceRoutes } from "./interface-routes.ts";
import { warnOfMissingModules } from "./modules.ts";
import { createOwnServers } from "./own-servers.ts";
import { pageRoutes } from "./page-routes.ts";

const kitPage = "web.kit";

export default definePlugin({
  id: "web",
  title: "Web pages",
  summary: "Serves the interface and the pages of plugins.",
  config,
  pages: [
    { id: "web.auth", path: "/auth", title: "Sign in", place: "hidden", access: "public" },
    { id: kitPage, path: "/kit", title: "Kit", place: "hidden", access: "user" },
  ],
  uses: { accounts: optional(accounts), configuration, declarations, deployment, egress },
  async setup({ config, use, log, signal }) {
    const { accounts, configuration } = use;
    // Who builds pages looks at the parts of the kit; nobody else has use of that page.
    const pages = use.declarations.pages().filter(({ page }) => page.id !== kitPage || use.deployment.isDev);
    const { list, module } = pageRoutes(pages);
    const ownServers = createOwnServers({
      settingsOf: async (userId) => accounts?.settingsOf(userId) ?? {},
      // The setting belongs to a plugin that may be left out.
      mayConnect: () => configuration.valueOr(direct, false) === true,
    });
    const brand = createBrand({
      name: use.deployment.name,
      iconUrl: () => config.faviconUrl,
      egress: use.egress,
      log,
      signal,
    });
    const shown = await interfaceRoutes({
      built: brand.name(createBuiltInterface()),
      icon: () => brand.icon(),
      pagePaths: pages.map(({ page }) => page.path),
      ownServers,
      publicUrl: () => String(configuration.valueOf("WEBUI_URL")),
    });
    return {
      routes: { main: [...shown, module], api: [list] },
      start: () => warnOfMissingModules(pages, log),
    };
  },
});

const direct = "ENABLE_DIRECT_CONNECTIONS";
