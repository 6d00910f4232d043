import { t } from "#plugins/web/kit/i18n/index.svelte.ts";
import type { Notification } from "./inbox.svelte.ts";

type Worded = Pick<Notification, "title" | "body" | "phrase">;

/** The title in the reader's language; names and texts of people stay as they are. */
export function titleWords({ title, phrase }: Worded): string {
  return phrase?.kind === "in_channel" ? t("{author} in #{channel}", phrase.values) : title;
}

/** The text below the title in the reader's language. */
export function bodyWords({ body, phrase }: Worded): string {
  switch (phrase?.kind) {
    case "starts_now":
      return t("Starts now");
    case "starts_in":
      return t("Starts in {minutes} min", phrase.values);
    case "reply_ready":
      return t("The reply is ready");
    case "waits":
      return t("{email} waits for your approval", phrase.values);
    case "invited":
      return t("{name} invites you", phrase.values);
    case "answered":
      return answerWords(phrase.values);
    case "shared_note":
      return t("{name} shared a note with you", phrase.values);
    case "shared_calendar":
      return t("{name} shared a calendar with you", phrase.values);
    default:
      return body;
  }
}

function answerWords(values: Readonly<Record<string, string | number>>): string {
  switch (values["status"]) {
    case "accepted":
      return t("{name}: accepted", values);
    case "declined":
      return t("{name}: declined", values);
    default:
      return t("{name}: maybe", values);
  }
}

/** The kind of a notification in words. */
export function kindWords(event: string): string {
  switch (event) {
    case "calendar.alert":
      return t("Reminder");
    case "automation.run_failed":
      return t("Automation failed");
    case "channel.message":
      return t("Message");
    case "chat.finished":
      return t("Reply ready");
    case "chat.failed":
      return t("Reply failed");
    case "auth.signup":
      return t("New account");
    case "function.disabled":
      return t("Function switched off by the server");
    case "job.failed":
      return t("Job failed");
    case "connection.failed":
      return t("Connection doesn't answer");
    case "disk.failed":
      return t("Disk almost full");
    case "calendar.event.created":
    case "calendar.event.updated":
      return t("Invitation");
    case "calendar.event.rsvp_updated":
      return t("Answer to an invitation");
    case "calendar.updated":
      return t("Shared calendar");
    case "note.access_updated":
      return t("Shared note");
    default:
      return event;
  }
}

/** Names of the icons of `findIcon`. */
export const kindIcons: Readonly<Record<string, string>> = {
  "calendar.alert": "calendar",
  "automation.run_failed": "clock",
  "channel.message": "hash",
  "chat.finished": "chat",
  "chat.failed": "chat",
  "auth.signup": "users",
  "function.disabled": "code",
  "job.failed": "clock",
  "connection.failed": "plug",
  "disk.failed": "activity",
  "calendar.event.created": "calendar",
  "calendar.event.updated": "calendar",
  "calendar.event.rsvp_updated": "calendar",
  "calendar.updated": "calendar",
  "note.access_updated": "note",
};
