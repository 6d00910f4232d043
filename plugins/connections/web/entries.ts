import { t } from "#plugins/web/kit/i18n/index.svelte.ts";
import type { SettingEntry } from "#plugins/web/kit/web.ts";

const page = "connections";

/** What the search finds on the page of connections. */
export const settingEntries = (): readonly SettingEntry[] => [
  { page, title: t("Providers"), keywords: t("API, key, prefix, headers, access, parameters, test") },
  { page, title: t("Local runtimes"), keywords: t("fetch, delete and unload models") },
  { page, title: t("Pipelines"), keywords: t("remote filters, valves") },
  { page, title: t("Members may connect providers of their own"), keywords: t("direct connections") },
  { page, title: t("Keep lists of models until somebody asks anew"), keywords: t("cache") },
];
