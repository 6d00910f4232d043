import { readFile } from "node:fs/promises";
import { definePlugin } from "#kernel/plugin.ts";
import { configuration, deployment, egress, events } from "#kernel/services.ts";
import { accounts } from "#plugins/accounts/service.ts";
import { adminRoutes } from "./admin-routes.ts";
import { parseChangelog } from "./changelog.ts";
import { config } from "./config.ts";
import { mainRoutes } from "./main-routes.ts";
import { createOffers } from "./offers.ts";
import { createPublicConfig } from "./public-config.ts";
import { createRemote } from "./remote.ts";
import { configParts } from "./service.ts";
import { createSettings } from "./values.ts";

export default definePlugin({
  id: "settings",
  title: "Settings",
  config,
  uses: { accounts, configuration, deployment, egress, events, parts: configParts },

  async setup({ config, use, log, signal }) {
    const { accounts, configuration, deployment } = use;
    const announce = (event: `config.${string}`, by: string, data: Record<string, unknown>) =>
      void use.events.announce(event, { actor: { id: by }, subject: null, data });
    const offers = createOffers({ config, configuration, announce });
    const names = (ids: readonly string[]) => accounts.summaries(ids);
    const settings = createSettings({ configuration, names, announce });
    const remote = createRemote({ egress: use.egress, log, signal });
    const isOffline = () => configuration.valueOf("OFFLINE_MODE") === true;
    const latestVersion = async () => {
      const asks = config.updateCheck && config.updateUrl !== "" && !isOffline();
      return (asks ? await remote.latestVersion(config.updateUrl) : undefined) ?? deployment.version;
    };
    const publicConfig = createPublicConfig({
      configuration,
      name: deployment.name,
      version: deployment.version,
      isEmpty: () => accounts.isEmpty(),
      suggestions: () => offers.suggestions(),
      defaultPermissions: () => accounts.defaultPermissions(),
      parts: () => use.parts.list(),
    });
    return {
      routes: {
        main: mainRoutes({
          deployment,
          buildHash: String(configuration.valueOf("WEBUI_BUILD_HASH")),
          config: publicConfig,
          latestVersion,
          changelog: parseChangelog(await readChangelog()),
          externalManifest: async () =>
            URL.canParse(config.manifestUrl) ? remote.manifest(config.manifestUrl) : undefined,
          publicUrl: () => String(configuration.valueOf("WEBUI_URL")).replace(/(?<!\/)\/+$/, ""),
        }),
        api: adminRoutes({ settings, offers, mayExport: () => config.adminExport }),
      },
    };
  },
});

/** The changelog stands beside the program; an image may leave it out. */
async function readChangelog(): Promise<string> {
  return await readFile(new URL("../../CHANGELOG.md", import.meta.url), "utf8").catch(() => "");
}
