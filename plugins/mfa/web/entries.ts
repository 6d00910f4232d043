import { t } from "#plugins/web/kit/i18n/index.svelte.ts";
import type { SettingEntry } from "#plugins/web/kit/web.ts";

/** The settings of one's second factor, for the search. */
export function settingEntries(): readonly SettingEntry[] {
  const page = "mfa.security";
  return [
    { page, title: t("Code app"), keywords: t("second factor two-factor") },
    { page, title: t("Passkeys"), keywords: t("fingerprint security key") },
    { page, title: t("Recovery codes") },
  ];
}
