import { defineWeb } from "#plugins/web/kit/web.ts";

const editor = () => import("./editor/ModelPage.svelte");

export const web = defineWeb({
  pages: {
    "models.list": () => import("./list/ModelsPage.svelte"),
    "models.new": editor,
    "models.edit": editor,
  },
});
