import { t } from "#plugins/web/kit/i18n/index.svelte.ts";
import type { SettingEntry } from "#plugins/web/kit/web.ts";

const page = "web-search";

/** What the search finds on the page of web search. */
export const settingEntries = (): readonly SettingEntry[] => [
  { page, title: t("Search engine"), keywords: t("searxng, brave, tavily, google, key, results, sites") },
  { page, title: t("Asking first"), keywords: t("confirmation, consent") },
  { page, title: t("Reading pages"), keywords: t("loader, robots, private addresses, sites") },
];
