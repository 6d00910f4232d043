import { t } from "#plugins/web/kit/i18n/index.svelte.ts";
import type { SettingEntry } from "#plugins/web/kit/web.ts";
import { afterwards, replies, writing } from "./switches.ts";

const page = "settings.interface";

/** The settings of the interface, for the search. */
export const settingEntries = (): readonly SettingEntry[] => [
  { page, title: t("Theme"), keywords: `${t("Dark")} ${t("Light")}` },
  { page, title: t("Language") },
  { page, title: t("Size of text") },
  ...[...writing(), ...replies(), ...afterwards()].map(({ label, hint }) => ({
    page,
    title: label,
    keywords: hint,
  })),
  { page, title: t("Notification of the desktop") },
  { page, title: t("Sound") },
  {
    page: "settings.announcements",
    title: t("Add an announcement"),
    keywords: t("banner, notice to everybody"),
  },
];
