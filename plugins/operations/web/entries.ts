import { t } from "#plugins/web/kit/i18n/index.svelte.ts";
import type { SettingEntry } from "#plugins/web/kit/web.ts";

/** What the search finds on the pages of operations. */
export const settingEntries = (): readonly SettingEntry[] => [
  { page: "operations.plugins", title: t("Services"), keywords: t("replace a plugin, swap") },
  { page: "operations.jobs", title: t("By the clock"), keywords: t("schedule, run now") },
  { page: "operations.health", title: t("Servers"), keywords: t("replicas, uptime, memory") },
  { page: "operations.health", title: t("Versions"), keywords: t("database, size") },
  { page: "operations.health", title: t("Build and device"), keywords: t("commit, image, CUDA") },
  { page: "operations.health", title: t("License"), keywords: t("license key, seats") },
  { page: "operations.health", title: t("Recent failures"), keywords: t("errors, request id, reference") },
];
