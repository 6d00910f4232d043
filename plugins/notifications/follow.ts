import { toEnvelope } from "#kernel/event-envelope.ts";
import type { SystemEvent } from "#kernel/events.ts";
import { troubleBegan } from "#kernel/trouble.ts";
import type { Inbox, Notice } from "./inbox/inbox.ts";
import {
  type Candidate,
  channelPath,
  noticedEvents,
  toCandidates,
  toTroubleNotices,
} from "./inbox/notices.ts";
import { channelRead } from "#plugins/channels/service.ts";
import type { NotificationParts } from "./parts.ts";
import type { Push } from "./push/push.ts";
import { type TargetEvent, targetEvents } from "./schema.ts";
import type { Targets } from "./targets/targets.ts";

/** Answered by the replica that a person has a window open with. */
const presenceTopic = "notifications.presence";

interface FollowParts extends Pick<
  NotificationParts,
  "db" | "accounts" | "channels" | "deployment" | "events" | "hub" | "log"
> {
  readonly inbox: Pick<Inbox, "add" | "markSeen">;
  readonly push: Pick<Push, "send">;
  readonly targets: Pick<Targets, "deliver">;
}

/** Tells people of what happens to them: in the notification centre, by web push and at their targets. */
export function followEvents(parts: FollowParts): void {
  const { hub, log } = parts;
  hub.contribute(presenceTopic, (userId) => (hub.isHere(String(userId)) ? true : null));
  parts.events.on(channelRead, ({ userId, channelId }) =>
    parts.inbox.markSeen(userId, { event: "channel.message", path: channelPath(channelId) }),
  );
  parts.events.on(troubleBegan, async (trouble) => {
    for (const notice of await toTroubleNotices(trouble, parts)) {
      await show(notice, parts);
    }
  });
  for (const name of noticedEvents) {
    parts.events.on(name, async (event) => {
      for (const candidate of await toCandidates(event, parts)) {
        await tell(candidate, event, parts).catch((error: unknown) =>
          log.warn({ err: error, event: name }, "a person could not be told of an event"),
        );
      }
    });
  }
}

async function show(notice: Notice, { inbox, push }: Pick<FollowParts, "inbox" | "push">): Promise<void> {
  const { userId, title, body, path } = notice;
  const { id } = await inbox.add(notice);
  await push.send(userId, { id, title, body, path });
}

async function tell(candidate: Candidate, event: SystemEvent, parts: FollowParts): Promise<void> {
  const { userId, title, body, phrase, path, onlyAway = false, isListed = true } = candidate;
  const person = await parts.accounts.principalOf(userId);
  if (person === undefined) {
    return;
  }
  const isAway = !parts.hub.isHere(userId) && (await parts.hub.find(presenceTopic, userId)) === undefined;
  if (isListed && (isAway || !onlyAway)) {
    await show({ userId, event: event.event, title, body, path, ...(phrase && { phrase }) }, parts);
  }
  if (isTargetEvent(event.event)) {
    const envelope = { ...toEnvelope(event, parts.deployment), message: `${title}: ${body}` };
    await parts.targets.deliver(person, event.event, { envelope, isAway });
  }
}

const isTargetEvent = (event: string): event is TargetEvent => targetEvents.some((name) => name === event);
