import { t } from "#plugins/web/kit/i18n/index.svelte.ts";
import { defineWeb } from "#plugins/web/kit/web.ts";

const editor = () => import("./editor/SkillPage.svelte");

export const web = defineWeb({
  pages: {
    "skills.list": () => import("./list/SkillsPage.svelte"),
    "skills.new": editor,
    "skills.edit": editor,
  },
  triggers: [
    {
      character: "$",
      get title() {
        return t("Skills");
      },
      list: async (query, signal) =>
        await (await import("./skill-trigger.ts")).skillTrigger.list(query, signal),
    },
  ],
  modelSections: [{ id: "skills", order: 20, load: () => import("./ModelSkills.svelte") }],
});
