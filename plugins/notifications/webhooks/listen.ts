import { type EventEnvelope, toEnvelope } from "#kernel/event-envelope.ts";
import type { SystemEvent } from "#kernel/events.ts";
import type { Notices } from "#kernel/services.ts";
import type { Deliveries } from "../deliveries/deliveries.ts";
import type { NotificationParts } from "../parts.ts";
import { environmentWebhook } from "../schema.ts";
import { matchesPattern } from "./event-names.ts";
import { type Listener, wants } from "./webhooks.ts";

/** Events that WEBHOOK_URL hears of. */
export const environmentEvents = ["auth.signup", "automation.run_failed", "system.*"] as const;

const channel = "notifications_webhooks";

interface ListenParts extends Pick<NotificationParts, "db" | "accounts" | "deployment" | "events" | "log"> {
  readonly deliveries: Deliveries;
  readonly notices: Notices;
  /** WEBHOOK_URL. */
  webhookUrl(): string;
}

/** Queues deliveries of what this process announces, for every webhook that wants it. */
export function createListening(parts: ListenParts) {
  const { db, deliveries, notices } = parts;
  let known: Promise<readonly Listener[]> | undefined;
  const listeners = () =>
    (known ??= db
      .selectFrom("event_webhook")
      .select(["id", "events", "targets"])
      .where("enabled", "=", true)
      .execute()
      .catch((error: unknown) => {
        known = undefined;
        throw error;
      }));
  const drop = () => (known = undefined);

  async function observe(event: SystemEvent): Promise<void> {
    const isForEnvironment =
      parts.webhookUrl() !== "" && environmentEvents.some((pattern) => matchesPattern(pattern, event.event));
    const all = await listeners();
    if (!isForEnvironment && all.length === 0) {
      return;
    }
    const envelope = await toMessage(event, parts);
    if (isForEnvironment) {
      await deliveries.queue({ webhookId: environmentWebhook }, envelope);
    }
    for (const listener of all) {
      if (await wants(listener, envelope, parts.accounts)) {
        await deliveries.queue({ webhookId: listener.id }, envelope);
      }
    }
  }

  return {
    observe,
    async changed(): Promise<void> {
      drop();
      await notices.notify(channel, null);
    },
    async start(): Promise<void> {
      await notices.listen(channel, drop, drop);
    },
  };
}

/** The envelope with the person's name in it where the event knows the account's id alone. */
async function toMessage(
  event: SystemEvent,
  { accounts, deployment }: Pick<ListenParts, "accounts" | "deployment">,
): Promise<EventEnvelope> {
  const { actor } = event;
  const summary =
    actor !== null && actor.name === undefined
      ? (await accounts.summaries([actor.id])).get(actor.id)
      : undefined;
  const known = summary === undefined ? event : { ...event, actor: { ...summary } };
  const envelope = toEnvelope(known, deployment);
  return { ...envelope, message: toSentence(known) ?? envelope.message };
}

/** A sentence for the events that people read most; the others keep the envelope's line. */
function toSentence({ event, actor, data }: SystemEvent): string | undefined {
  const who = actor?.name ?? actor?.email ?? "Somebody";
  const facts = (data ?? {}) as Readonly<Record<string, unknown>>;
  switch (event) {
    case "auth.signup":
      return `New account: ${who}${actor?.email ? ` <${actor.email}>` : ""}`;
    case "automation.run_failed":
      return `The automation “${String(facts["name"])}” failed: ${String(facts["error"])}`;
    case "system.startup.completed":
      return `The server has started (version ${String(facts["version"])}).`;
    case "system.shutdown.started":
      return "The server is stopping.";
    case "system.shutdown.completed":
      return "The server has stopped.";
    default:
      return undefined;
  }
}
