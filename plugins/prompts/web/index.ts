import { t } from "#plugins/web/kit/i18n/index.svelte.ts";
import { defineWeb } from "#plugins/web/kit/web.ts";

const editor = () => import("./editor/PromptPage.svelte");

export const web = defineWeb({
  pages: {
    "prompts.list": () => import("./list/PromptsPage.svelte"),
    "prompts.new": editor,
    "prompts.edit": editor,
  },
  triggers: [
    {
      character: "/",
      get title() {
        return t("Prompts");
      },
      list: async (query, signal) =>
        await (await import("./fill/prompt-trigger.ts")).promptTrigger.list(query, signal),
    },
  ],
});
