import type { SystemEvent } from "#kernel/events.ts";
import type { Trouble } from "#kernel/trouble.ts";
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
  "function.disabled",
  "calendar.event.created",
  "calendar.event.updated",
  "calendar.event.rsvp_updated",
  "calendar.updated",
  "note.access_updated",
] as const;

export const channelPath = (id: string): string => `/channels/${encodeURIComponent(id)}`;

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
    case "function.disabled":
      return await switchOffOf(event, facts, parts);
    case "calendar.event.created":
    case "calendar.event.updated":
      return invitationsOf(event, facts);
    case "calendar.event.rsvp_updated":
      return answerOf(event, facts);
    case "calendar.updated":
    case "note.access_updated":
      return sharesOf(event, facts);
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
      path: channelPath(subject.id),
      isListed: isDirect || mentioned.includes(userId),
    }));
}

const peopleOf = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter((id) => typeof id === "string") : [];

/** Those who were not asked to the event before. */
function invitationsOf({ event, actor }: SystemEvent, facts: Facts): Candidate[] {
  const name = actor?.name ?? "Somebody";
  return peopleOf(facts["invited"])
    .filter((userId) => userId !== actor?.id)
    .map((userId) => ({
      userId,
      event,
      title: text(facts["title"]),
      body: `${name} invites you`,
      phrase: { kind: "invited", values: { name } },
      path: "/calendar",
    }));
}

const answers = { accepted: "accepted", declined: "declined", tentative: "maybe" } as const;

function answerOf({ event, actor }: SystemEvent, facts: Facts): Candidate[] {
  const userId = text(facts["organizer"]);
  const status = text(facts["status"]);
  const name = actor?.name ?? "Somebody";
  const answer = (answers as Readonly<Record<string, string>>)[status];
  if (answer === undefined || userId === actor?.id) {
    return [];
  }
  const phrase = { kind: "answered", values: { name, status } } as const;
  return [
    { userId, event, title: text(facts["title"]), body: `${name}: ${answer}`, phrase, path: "/calendar" },
  ];
}

/** Those to whom a note or a calendar was not open before. */
function sharesOf({ event, actor, subject }: SystemEvent, facts: Facts): Candidate[] {
  const isNote = subject?.type === "note";
  const name = actor?.name ?? "Somebody";
  return peopleOf(facts["shared_with"])
    .filter((userId) => userId !== actor?.id)
    .map((userId) => ({
      userId,
      event,
      title: text(facts[isNote ? "title" : "name"]) || "Untitled",
      body: isNote ? `${name} shared a note with you` : `${name} shared a calendar with you`,
      phrase: { kind: isNote ? "shared_note" : "shared_calendar", values: { name } },
      path: isNote ? `/notes/${encodeURIComponent(subject?.id ?? "")}` : "/calendar",
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
  const admins = await findAdmins(db);
  const { name: title, email, role } = account;
  const waits = role === "pending";
  return admins
    .filter((id) => id !== account.id)
    .map((id) => ({
      userId: id,
      event,
      title,
      body: waits ? `${email} waits for your approval` : email,
      ...(waits && { phrase: { kind: "waits", values: { email } } }),
      path: "/admin/users",
    }));
}

/** Functions that the server switched off by itself; administrators know of those that people switched off. */
async function switchOffOf(
  { event, actor, subject }: SystemEvent,
  facts: Facts,
  { db }: NoticeParts,
): Promise<Candidate[]> {
  if (actor !== null || subject === null) {
    return [];
  }
  const title = text(facts["name"]) || subject.id;
  const path = `/workspace/function/${encodeURIComponent(subject.id)}`;
  return (await findAdmins(db)).map((userId) => ({
    userId,
    event,
    title,
    body: text(facts["reason"]),
    path,
  }));
}

/** Notices to administrators about work that began to fail, each once until it is read. */
export async function toTroubleNotices(
  { kind, name, reason }: Trouble,
  { db }: Pick<NoticeParts, "db">,
): Promise<Notice[]> {
  const event = `${kind}.failed`;
  const told = await db
    .selectFrom("notification")
    .select("user_id")
    .where("event", "=", event)
    .where("title", "=", name)
    .where("read_at", "is", null)
    .execute();
  const knowing = new Set(told.map(({ user_id: id }) => id));
  const path = pages[kind];
  return (await findAdmins(db))
    .filter((userId) => !knowing.has(userId))
    .map((userId) => ({ userId, event, title: name, body: reason, path }));
}

const pages = { job: "/admin/jobs", connection: "/admin/connections", disk: "/admin/health" } as const;

async function findAdmins(db: NoticeParts["db"]): Promise<string[]> {
  const admins = await db.selectFrom("user").select("id").where("role", "=", "admin").execute();
  return admins.map(({ id }) => id);
}

const text = (value: unknown): string => (typeof value === "string" ? value : "");
