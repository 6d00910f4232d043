import { t } from "#plugins/web/kit/i18n/index.svelte.ts";
import type { SettingEntry } from "#plugins/web/kit/web.ts";

/** What the search finds on the page of tool servers. */
export const settingEntries = (): readonly SettingEntry[] => [
  {
    page: "tool-servers",
    title: t("Tool servers"),
    keywords: t("OpenAPI, MCP, functions, key, headers, access, test"),
  },
];
