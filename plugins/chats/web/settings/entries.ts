import { t } from "#plugins/web/kit/i18n/index.svelte.ts";
import type { SettingEntry } from "#plugins/web/kit/web.ts";

const page = "chats.data";

/** Actions on all chats, for the search. */
export const settingEntries = (): readonly SettingEntry[] => [
  { page, title: t("Export"), keywords: t("save file backup") },
  { page, title: t("Import") },
  { page, title: t("Archived chats") },
  { page, title: t("Archive all chats") },
  { page, title: t("Shared links") },
  { page, title: t("Delete all chats") },
];
