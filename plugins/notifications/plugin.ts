import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { access } from "#kernel/access/resource.ts";
import type { Egress } from "#kernel/egress/egress.ts";
import { definePlugin, tables } from "#kernel/plugin.ts";
import { createSeal } from "#kernel/seal.ts";
import { optional, provide } from "#kernel/service.ts";
import { configuration, deployment, egress, events, jobs, notices } from "#kernel/services.ts";
import { hub } from "#kernel/sockets/hub.ts";
import { accounts } from "#plugins/accounts/service.ts";
import { channelReaders } from "#plugins/channels/service.ts";
import { notificationVariables } from "./config.ts";
import { createNotificationSystem } from "./create-notifications.ts";
import { type Deliveries, toLogged } from "./deliveries/deliveries.ts";
import { post } from "./deliveries/post.ts";
import { createNotifications } from "./migrations/0001_notifications.ts";
import { addPhrases } from "./migrations/0002_phrases.ts";
import { inboxRoutes, pushRoutes, targetRoutes } from "./routes/own.ts";
import { webhookRoutes } from "./routes/webhooks.ts";
import { deliveryReceivers, type EventDeliveries, eventDeliveries } from "./service.ts";
import { limits } from "./schema.ts";
import type { NotificationTables } from "./tables.ts";
import { createNotificationTools } from "./tools.ts";

const hour = 3600;
const minute = 60;

export default definePlugin({
  id: "notifications",
  title: "Notifications",
  summary: "Tells people and other programs what happens here.",
  config: notificationVariables,
  uses: {
    access,
    accounts,
    channels: optional(channelReaders),
    configuration,
    deployment,
    egress,
    events,
    hub,
    jobs,
    notices,
    receivers: deliveryReceivers,
  },
  provides: [eventDeliveries],
  tables: tables<NotificationTables>(
    "notification",
    "notification_target",
    "push_subscription",
    "push_key",
    "event_webhook",
    "event_delivery",
  ),
  migrations: { "0001_notifications": createNotifications, "0002_phrases": addPhrases },
  pages: [
    {
      id: "notifications",
      path: "/notifications",
      title: "Notifications",
      icon: "bell",
      place: "main",
      order: 50,
      access: "user",
    },
    {
      id: "notifications.own",
      path: "/settings/notifications",
      title: "Notifications",
      icon: "bell",
      place: "settings",
      order: 6,
      access: "user",
    },
    {
      id: "notifications.webhooks",
      path: "/admin/webhooks",
      title: "Event webhooks",
      icon: "webhook",
      place: "admin",
      group: "server",
      order: 65,
      access: "admin",
    },
  ],

  async setup({ config, use, db, transaction, log }) {
    const seal = createSeal(use.deployment.secretKey, "notifications");
    const parts = { ...use, db, transaction, log, seal };
    const { inbox, push, targets, webhooks, deliveries, start, stop } = createNotificationSystem(parts, {
      webhookUrl: () => config.webhookUrl,
      receivers: () => use.receivers.list(),
    });
    const worker = await readFile(fileURLToPath(new URL("push/worker.js", import.meta.url)));
    return {
      services: [provide(eventDeliveries, toService(deliveries, use.egress))],
      routes: {
        api: [
          ...inboxRoutes(inbox),
          ...targetRoutes(targets),
          ...pushRoutes(push, { worker, name: use.deployment.name }),
        ],
        main: [...webhookRoutes({ ...use, webhooks, deliveries })],
      },
      tools: createNotificationTools(targets),
      jobs: [
        deliveries.job,
        push.job,
        {
          id: "notifications.resume",
          title: "Resumes deliveries that were interrupted",
          every: minute,
          run: () => deliveries.resume(),
        },
        {
          id: "notifications.sweep",
          title: "Removes old notifications",
          every: hour,
          run: async () => {
            await deliveries.sweep();
            await inbox.sweep();
          },
        },
      ],
      start,
      stop,
    };
  },
});

/** The deliveries as other plugins use them. */
function toService(deliveries: Deliveries, egress: Pick<Egress, "fetch">): EventDeliveries {
  return {
    queue: (receiver, envelope) => deliveries.queue({ webhookId: receiver }, envelope),
    list: async (receiver) => (await deliveries.list(receiver, limits.deliveries)).map(toLogged),
    retry: (receiver, id) => deliveries.retry(receiver, id),
    forget: (receiver) => deliveries.forget(receiver),
    post: (address, envelope, signal) => post(egress, address, { id: envelope.id, envelope, signal }),
  };
}
