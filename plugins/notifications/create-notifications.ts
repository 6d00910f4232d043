import { setTimeout as pause } from "node:timers/promises";
import type { SystemEvent } from "#kernel/events.ts";
import type { Notices } from "#kernel/services.ts";
import { createDeliveries, untriedAtStart } from "./deliveries/deliveries.ts";
import type { Address } from "./deliveries/post.ts";
import { followEvents } from "./follow.ts";
import { createInbox } from "./inbox/inbox.ts";
import type { NotificationParts } from "./parts.ts";
import { createPush } from "./push/push.ts";
import { environmentWebhook } from "./schema.ts";
import type { DeliveryReceivers } from "./service.ts";
import type { DeliveryRow } from "./tables.ts";
import { createTargets, type TargetParts } from "./targets/targets.ts";
import { createListening } from "./webhooks/listen.ts";
import { createWebhooks } from "./webhooks/webhooks.ts";

/** Milliseconds that a stop waits for the database to take the last events. */
const longestStop = 3_000;

/** Puts the parts of notifications together. */
export function createNotificationSystem(
  parts: NotificationParts & { readonly notices: Notices },
  { webhookUrl, receivers }: { webhookUrl(): string; receivers(): readonly DeliveryReceivers[] },
) {
  const { configuration, events, log } = parts;
  const valueOf = (name: string) => String(configuration.valueOr(name, "") ?? "");
  const deliveries = createDeliveries({
    ...parts,
    addressOf: (row) => addressOf(row),
    async ended(row, isDelivered) {
      const other = findReceiver(receivers(), row.webhook_id);
      await other?.receivers.ended(other.id, isDelivered);
    },
  });
  const targetParts: TargetParts = { ...parts, deliveries };
  const targets = createTargets(targetParts);
  const listening = createListening({ ...parts, deliveries, webhookUrl });
  const webhooks = createWebhooks({ ...parts, changed: listening.changed });
  const inbox = createInbox(parts);
  const push = createPush({
    ...parts,
    contact: () => {
      const url = valueOf("WEBUI_URL");
      return url.startsWith("https://") ? url : `mailto:${valueOf("ADMIN_EMAIL") || "admin@localhost"}`;
    },
  });

  async function addressOf(row: Pick<DeliveryRow, "webhook_id" | "target_id">): Promise<Address | string> {
    if (row.target_id !== null) {
      return await targets.addressOf(row.target_id);
    }
    const other = findReceiver(receivers(), row.webhook_id);
    if (other !== undefined) {
      return await other.receivers.addressOf(other.id);
    }
    if (row.webhook_id !== environmentWebhook) {
      return await webhooks.addressOf(row.webhook_id ?? "");
    }
    const url = webhookUrl();
    // An administrator or the environment set it, so it may be private (contract D.15).
    return URL.canParse(url) ? { url, form: "auto", trust: "operator" } : "WEBHOOK_URL holds no address.";
  }

  followEvents({ ...parts, inbox, push, targets });
  // Events of the start itself come before the queue takes work.
  const { promise: started, resolve } = Promise.withResolvers<void>();
  const queueing = new Set<Promise<void>>();
  const observe = async (event: SystemEvent) => {
    await started;
    await listening.observe(event).catch((error: unknown) => {
      log.warn({ err: error, event: event.event }, "an event could not be queued for webhooks");
    });
  };
  events.onSystemEvent((event) => {
    const queued = observe(event).finally(() => queueing.delete(queued));
    queueing.add(queued);
  });
  return {
    deliveries,
    inbox,
    push,
    targets,
    webhooks,
    async start(): Promise<void> {
      await listening.start();
      // The words of a process that had no time left to send them.
      await deliveries.resume(untriedAtStart);
      resolve();
    },
    /** Resolves once the last events of this process are stored: the next one sends them. */
    async stop(): Promise<void> {
      await Promise.race([Promise.all(queueing), pause(longestStop, undefined, { ref: false })]);
    },
  };
}

/** The plugin that knows a receiver `<kind>:<id>`; ids of event webhooks have no colon. */
function findReceiver(receivers: readonly DeliveryReceivers[], name: string | null) {
  const colon = name?.indexOf(":") ?? -1;
  const found = receivers.find(({ kind }) => colon > 0 && kind === name?.slice(0, colon));
  return found && { receivers: found, id: String(name).slice(colon + 1) };
}
