import { session } from "#plugins/web/kit/stores/session.svelte.ts";
import type { SettingEntry } from "#plugins/web/kit/web.ts";
import { readSettings, toLabel } from "./setting.ts";
import { settingTexts } from "./texts.svelte.ts";

const page = "settings.all";

/** Every variable, for the search beside the pages of administrators. */
export async function variableEntries(): Promise<readonly SettingEntry[]> {
  const mayRead = session.pages.some(({ id }) => id === page);
  if (!mayRead) {
    return [];
  }
  await settingTexts.load();
  return (await readSettings()).map(({ name, text, owner_title: owner }) => ({
    page,
    title: toLabel(name),
    keywords: `${name} ${text} ${settingTexts.of(text)} ${owner}`,
    path: `/admin/settings?name=${name}`,
  }));
}
