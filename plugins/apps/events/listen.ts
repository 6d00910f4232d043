import { randomUUID } from "node:crypto";
import { toEnvelope } from "#kernel/event-envelope.ts";
import type { Actor, SystemEvent } from "#kernel/events.ts";
import type { Notices } from "#kernel/services.ts";
import type { ChannelFacts } from "#plugins/channels/service.ts";
import { areChannelsOn, type AppParts, receiverOf } from "../parts.ts";
import type { AppRow } from "../tables.ts";
import { type ChannelHappening, toHappenings } from "./to-app-events.ts";

const topic = "apps";

type Listener = Pick<AppRow, "id" | "user_id" | "name" | "events">;

export interface ListenParts extends Pick<
  AppParts,
  "db" | "channels" | "configuration" | "deliveries" | "deployment" | "log" | "isEnabled"
> {
  readonly notices: Notices;
}

/** Queues what happens in channels for the apps that are in them and asked for it. */
export function createListening(parts: ListenParts) {
  const { db, notices } = parts;
  let known: Promise<readonly Listener[]> | undefined;
  const drop = () => (known = undefined);
  const listeners = () =>
    (known ??= db
      .selectFrom("app")
      .select(["id", "user_id", "name", "events"])
      .where("enabled", "=", true)
      .where("url", "is not", null)
      .execute()
      .catch((error: unknown) => {
        drop();
        throw error;
      }));

  return {
    async observe(event: SystemEvent): Promise<void> {
      const happenings = toHappenings(event);
      if (happenings.length === 0 || !parts.isEnabled() || !areChannelsOn(parts)) {
        return;
      }
      const all = await listeners();
      for (const happening of all.length === 0 ? [] : happenings) {
        await hand(parts, { happening, event, all });
      }
    },
    async changed(): Promise<void> {
      drop();
      await notices.notify(topic, null);
    },
    start: () => notices.listen(topic, drop, drop),
  };
}

async function hand(
  { channels, deliveries, deployment, log }: ListenParts,
  { happening, event, all }: { happening: ChannelHappening; event: SystemEvent; all: readonly Listener[] },
): Promise<void> {
  const wanting = all.filter(
    (app) =>
      app.events.includes(happening.event) &&
      // An app is not told of what it did itself: it would answer itself for ever.
      app.user_id !== event.actor?.id &&
      // Its own coming and going is `app.added` and `app.removed`.
      app.user_id !== happening.member &&
      (happening.only === undefined || happening.only === app.user_id),
  );
  const channel = wanting.length === 0 ? undefined : await channels?.find(happening.channelId);
  if (channel === undefined) {
    return;
  }
  const ids = wanting.map((app) => app.user_id);
  const joined = await channels?.joined(channel.id, ids);
  for (const app of wanting) {
    if (happening.event === "app.removed" || joined?.has(app.user_id)) {
      const told = toAppEvent(app, { happening, event, channel });
      if (!(await deliveries?.queue(receiverOf(app.id), toEnvelope(told, deployment)))) {
        log.warn({ app: app.id, event: told.event }, "an event was not queued: too many wait for the app");
      }
    }
  }
}

function toAppEvent(
  app: Listener,
  { happening, event, channel }: { happening: ChannelHappening; event: SystemEvent; channel: ChannelFacts },
): SystemEvent {
  return {
    id: randomUUID(),
    event: happening.event,
    created_at: event.created_at,
    actor: event.actor && withoutAddress(event.actor),
    subject: event.subject,
    data: { app: { id: app.id, user_id: app.user_id, name: app.name }, channel, ...happening.data },
  };
}

/** People's e-mail addresses are no business of programs. */
function withoutAddress({ email: _email, ...actor }: Actor): Actor {
  return actor;
}
