import type { SystemEventName } from "#kernel/system-event-names.ts";
import { readFile } from "node:fs/promises";
import { definePlugin } from "#kernel/plugin.ts";
import { optional } from "#kernel/service.ts";
import { configuration, declarations, deployment, egress, events } from "#kernel/services.ts";
import { accounts } from "#plugins/accounts/service.ts";
import { audit } from "#plugins/audit/service.ts";
import { adminRoutes } from "./admin-routes.ts";
import { parseChangelog } from "./changelog.ts";
import { config } from "./config.ts";
import { mainRoutes } from "./main-routes.ts";
import { createOffers } from "./offers.ts";
import { createPublicConfig } from "./public-config.ts";
import { createRemote } from "./remote.ts";
import { configParts } from "./service.ts";
import { createSettings } from "./values.ts";

const page = { place: "settings", access: "user" } as const;

export default definePlugin({
  id: "settings",
  title: "Settings",
  summary: "Settings, the public configuration and the version.",
  config,
  uses: {
    accounts,
    audit: optional(audit),
    configuration,
    declarations,
    deployment,
    egress,
    events,
    parts: configParts,
  },
  pages: [
    {
      ...page,
      id: "settings.interface",
      path: "/settings/interface",
      title: "Interface",
      icon: "palette",
      order: 2,
    },
    { ...page, id: "settings.about", path: "/settings/about", title: "About", icon: "info", order: 90 },
    {
      id: "settings.all",
      path: "/admin/settings",
      title: "Settings",
      icon: "sliders",
      place: "admin",
      group: "server",
      order: 60,
      access: "admin",
    },
    {
      id: "settings.announcements",
      path: "/admin/announcements",
      title: "Announcements",
      icon: "megaphone",
      place: "admin",
      group: "server",
      order: 62,
      access: "admin",
    },
  ],

  async setup({ config, use, log, signal }) {
    const { accounts, configuration, deployment } = use;
    const announce = (
      event: Extract<SystemEventName, `config.${string}`>,
      by: string,
      data: Record<string, unknown>,
    ) => void use.events.announce(event, { actor: { id: by }, subject: null, data });
    const offers = createOffers({ config, configuration, announce });
    const names = (ids: readonly string[]) => accounts.summaries(ids);
    const titles = () => use.declarations.plugins();
    const settings = createSettings({
      configuration,
      names,
      announce,
      // The kernel's own variables belong to no plugin.
      titleOf: (owner) => titles().find(({ id }) => id === owner)?.title ?? "Platform",
      history: async (name) => (await use.audit?.history({ type: "setting", id: name }, 100)) ?? [],
    });
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
          hasBrandIcon: () =>
            // The variable belongs to a plugin that may be left out.
            URL.canParse(String(configuration.valueOr("WEBUI_FAVICON_URL", ""))),
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
