import { definePlugin, tables } from "#kernel/plugin.ts";
import { createSeal } from "#kernel/seal.ts";
import { fill, optional } from "#kernel/service.ts";
import { configuration, deployment, egress, events, notices } from "#kernel/services.ts";
import { accounts, appKeys } from "#plugins/accounts/service.ts";
import { audit } from "#plugins/audit/service.ts";
import { channelBots } from "#plugins/channels/service.ts";
import { deliveryReceivers, eventDeliveries } from "#plugins/notifications/service.ts";
import { createChannelApps } from "./channel-apps.ts";
import { appVariables } from "./config.ts";
import { createListening } from "./events/listen.ts";
import { createReceivers } from "./events/receivers.ts";
import { createAppTable } from "./migrations/0001_apps.ts";
import type { AppParts } from "./parts.ts";
import { createRegistry } from "./registry/apps.ts";
import { createAppKeys, createSecrets } from "./registry/keys.ts";
import { adminRoutes } from "./routes/admin.ts";
import { channelAppRoutes } from "./routes/channels.ts";
import type { AppTables } from "./tables.ts";

export default definePlugin({
  id: "apps",
  title: "Apps",
  summary: "Programs that join channels.",
  config: appVariables,
  uses: {
    accounts,
    audit: optional(audit),
    channels: optional(channelBots),
    configuration,
    deliveries: optional(eventDeliveries),
    deployment,
    egress,
    events,
    notices,
  },
  tables: tables<AppTables>("app"),
  migrations: { "0001_apps": createAppTable },
  pages: [
    {
      id: "apps",
      path: "/admin/apps",
      title: "Apps",
      icon: "bot",
      place: "admin",
      group: "server",
      order: 66,
      access: "admin",
    },
  ],
  enabled: (config) => config.enabled,

  setup({ config, use, db, transaction, log }) {
    const parts: AppParts = {
      ...use,
      db,
      transaction,
      log,
      record: async (entry, tx) => await use.audit?.record(entry, tx),
      seal: createSeal(use.deployment.secretKey, "apps"),
      isEnabled: () => config.enabled,
      privateOrigins: () => config.allowedPrivateOrigins,
    };
    const listening = createListening({ ...parts, notices: use.notices });
    const shared = { ...parts, changed: listening.changed };
    use.events.onSystemEvent(async (event) => {
      await listening.observe(event).catch((error: unknown) => {
        log.warn({ err: error, event: event.event }, "an event could not be queued for apps");
      });
    });
    return {
      routes: {
        api: [
          ...adminRoutes({ ...parts, registry: createRegistry(shared), secrets: createSecrets(shared) }),
          ...channelAppRoutes(createChannelApps(parts), parts),
        ],
      },
      fills: [fill(appKeys, createAppKeys(parts)), fill(deliveryReceivers, createReceivers(shared))],
      start: () => listening.start(),
    };
  },
});
