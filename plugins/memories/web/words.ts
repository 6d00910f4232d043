import { t } from "#plugins/web/kit/i18n/index.svelte.ts";
import type { Change, Memory } from "./memories.svelte.ts";

/** The maker of a memory, for people. */
export function sourceWords(by: Memory["meta"]["source"]["by"]): string {
  return {
    person: t("Written by you"),
    tool: t("Learned in a chat"),
    review: t("Found when a chat was looked through"),
  }[by];
}

/** The name of a change, for people. */
export function changeWords(action: Change["action"]): string {
  return {
    add: t("Added"),
    replace: t("Reworded"),
    move: t("Moved"),
    remove: t("Forgotten"),
    keep: t("Accepted"),
  }[action];
}
