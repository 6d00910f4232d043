import type { SystemEvent } from "#kernel/events.ts";
import type { NotificationParts } from "../parts.ts";
import type { Notice } from "./inbox.ts";

type Facts = Readonly<Record<string, unknown>>;

/** A notice, and whether it is only for people who have no window open. */
export interface Candidate extends Notice {
  readonly onlyAway?: boolean;
  /** False for what only targets of people hear of: the person sees it elsewhere. */
  readonly isListed?: boolean;
}

type NoticeParts = Pick<NotificationParts, "db" | "channels">;

/** The events that people hear of. */
export const noticedEvents = [
  "calendar.alert",
  "automation.run_failed",
  "channel.message",
  "chat.finished",
  "chat.failed",
  "auth.signup",
] as const;

/** Finds the people that a system event is news for, and the words for each. */
export async function toCandidates(event: SystemEvent, parts: NoticeParts): Promise<Candidate[]> {
  const facts = (event.data ?? {}) as Facts;
  switch (event.event) {
    case "calendar.alert":
      return [alertOf(event, facts)];
    case "automation.run_failed":
      return [failureOf(event, facts)];
    case "channel.message":
      return await mentionsOf(event, facts, parts);
    case "chat.finished":
    case "chat.failed":
      return replyOf(event, facts);
    case "auth.signup":
      return await signUpsOf(event, facts, parts);
    default:
      return [];
  }
}

function alertOf({ event }: SystemEvent, facts: Facts): Candidate {
  const minutes = Number(facts["minutes"]);
  return {
    userId: text(facts["user_id"]),
    event,
    title: text(facts["title"]),
    body: minutes === 0 ? "Starts now" : `Starts in ${minutes} min`,
    phrase: minutes === 0 ? { kind: "starts_now", values: {} } : { kind: "starts_in", values: { minutes } },
    path: "/calendar",
  };
}

function failureOf({ event }: SystemEvent, facts: Facts): Candidate {
  const chatId = facts["chat_id"];
  return {
    userId: text(facts["user_id"]),
    event,
    title: text(facts["name"]),
    body: text(facts["error"]),
    path: typeof chatId === "string" ? `/c/${encodeURIComponent(chatId)}` : null,
  };
}

function replyOf({ event, actor, subject }: SystemEvent, facts: Facts): Candidate[] {
  if (actor === null || subject === null) {
    return [];
  }
  return [
    {
      userId: actor.id,
      event,
      title: text(facts["title"]) || "Chat",
      ...(event === "chat.failed"
        ? { body: text(facts["error"]) }
        : { body: "The reply is ready", phrase: { kind: "reply_ready", values: {} } }),
      path: `/c/${encodeURIComponent(subject.id)}`,
      onlyAway: true,
    },
  ];
}

/**
 * People of group and direct channels hear of each message, those of standard ones of what names them. Only mentions and
 * direct messages are listed; the sidebar marks the rest as unread.
 */
async function mentionsOf(
  { event, actor, subject }: SystemEvent,
  facts: Facts,
  { channels }: NoticeParts,
): Promise<Candidate[]> {
  if (channels === undefined || subject === null) {
    return [];
  }
  const channel = (facts["channel"] ?? {}) as { name?: unknown; type?: unknown };
  const message = (facts["message"] ?? {}) as { id?: unknown; content?: unknown };
  const author = text((facts["author"] as { name?: unknown } | undefined)?.name) || "Somebody";
  const mentioned = ((facts["mentions"] as { users?: unknown } | undefined)?.users ??
    []) as readonly string[];
  const readers = await channels.audience(subject.id, mentioned);
  const isDirect = channel.type === "dm";
  return readers
    .filter((userId) => userId !== actor?.id)
    .map((userId) => ({
      userId,
      event,
      title: isDirect ? author : `${author} in #${text(channel.name)}`,
      ...(!isDirect && { phrase: { kind: "in_channel", values: { author, channel: text(channel.name) } } }),
      body: channels.toPlainText(text(message.content)),
      path: `/channels/${encodeURIComponent(subject.id)}`,
      isListed: isDirect || mentioned.includes(userId),
    }));
}

async function signUpsOf(
  { event, subject }: SystemEvent,
  _facts: Facts,
  { db }: NoticeParts,
): Promise<Candidate[]> {
  const account =
    subject &&
    (await db
      .selectFrom("user")
      .select(["id", "name", "email", "role"])
      .where("id", "=", subject.id)
      .executeTakeFirst());
  if (!account) {
    return [];
  }
  const admins = await db.selectFrom("user").select("id").where("role", "=", "admin").execute();
  const { name: title, email, role } = account;
  const waits = role === "pending";
  return admins
    .filter(({ id }) => id !== account.id)
    .map(({ id }) => ({
      userId: id,
      event,
      title,
      body: waits ? `${email} waits for your approval` : email,
      ...(waits && { phrase: { kind: "waits", values: { email } } }),
      path: "/admin/users",
    }));
}

const text = (value: unknown): string => (typeof value === "string" ? value : "");
