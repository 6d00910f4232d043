import { t } from "#plugins/web/kit/i18n/index.svelte.ts";

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
