import { contributed } from "../kit/contributions.ts";
import type { SettingEntry } from "../kit/web.ts";

/** What was chosen last in a search: the page shows it once it is there. */
class SoughtSetting {
  title = $state<string>();
}

export const soughtSetting = new SoughtSetting();

/** The settings that pages of plugins declare; those of a plugin that cannot be loaded are missing. */
export async function readSettings(): Promise<readonly SettingEntry[]> {
  const read = await Promise.allSettled(contributed("settings").map((load) => load()));
  return read.flatMap((one) => (one.status === "fulfilled" ? one.value : []));
}
