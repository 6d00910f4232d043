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
    default:
      return body;
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
};
