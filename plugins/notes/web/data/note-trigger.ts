import { t } from "#plugins/web/kit/i18n/index.svelte.ts";
import type { ComposerTrigger } from "#plugins/web/kit/web.ts";
import { findNotes } from "./notes.ts";

const most = 8;
/** While nothing is typed: the list is for a glance. */
const mostUnasked = 3;

/** `#`: notes whose text goes along with the question. */
export const noteTrigger: ComposerTrigger = {
  character: "#",
  get title() {
    return t("Notes");
  },
  async list(query, signal) {
    const found = await findNotes(query, query === "" ? mostUnasked : most, signal);
    return found.map(({ id, title }) => ({
      id: `note:${id}`,
      title: title || t("Untitled"),
      icon: "note",
      pick(composer) {
        composer.insert("");
        composer.attach({ type: "note", id, name: title || t("Untitled") });
      },
    }));
  },
};
