import { t } from "#plugins/web/kit/i18n/index.svelte.ts";
import type { SettingEntry } from "#plugins/web/kit/web.ts";

/** The settings of one's account, for the search. */
export function settingEntries(): readonly SettingEntry[] {
  const account = "accounts.account";
  return [
    { page: account, title: t("Profile"), keywords: t("name picture") },
    { page: account, title: t("Status") },
    { page: account, title: t("Password") },
    { page: account, title: t("Time zone") },
    { page: account, title: t("API key"), keywords: t("token") },
    { page: "accounts.personalisation", title: t("Instructions"), keywords: t("system prompt") },
  ];
}
