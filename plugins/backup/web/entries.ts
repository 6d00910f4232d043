import { t } from "#plugins/web/kit/i18n/index.svelte.ts";
import type { SettingEntry } from "#plugins/web/kit/web.ts";

/** What the search finds on the page of backups. */
export const settingEntries = (): readonly SettingEntry[] => [
  { page: "backup", title: t("Backups"), keywords: t("restore, export the database, schedule") },
];
