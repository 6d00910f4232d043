import { t } from "#plugins/web/kit/i18n/index.svelte.ts";
import { session } from "#plugins/web/kit/stores/session.svelte.ts";
import { defineWeb } from "#plugins/web/kit/web.ts";

export const web = defineWeb({
  pages: {
    "notes.list": () => import("./list/NotesPage.svelte"),
    "notes.note": () => import("./page/NotePage.svelte"),
  },
  commands: [
    async (query, signal) =>
      session.may("features.notes")
        ? await (await import("./data/commands.ts")).noteCommands(query, signal)
        : [],
  ],
  triggers: [
    {
      character: "#",
      get title() {
        return t("Notes");
      },
      list: async (query, signal) =>
        await (await import("./data/note-trigger.ts")).noteTrigger.list(query, signal),
    },
  ],
  modelSections: [{ id: "notes", order: 15, load: () => import("./ModelNotes.svelte") }],
});
