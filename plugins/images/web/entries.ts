import { t } from "#plugins/web/kit/i18n/index.svelte.ts";
import type { SettingEntry } from "#plugins/web/kit/web.ts";

const page = "images.settings";

/** Entries of the settings page of pictures, for the search. */
export const settingEntries = (): readonly SettingEntry[] => [
  {
    page,
    title: t("Making pictures"),
    keywords: t("engine, openai, gemini, comfyui, automatic1111, key, size, steps"),
  },
  { page, title: t("Changing pictures"), keywords: t("edit, engine") },
];
