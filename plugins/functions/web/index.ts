import { defineWeb } from "#plugins/web/kit/web.ts";

export const web = defineWeb({
  pages: {
    "functions.list": () => import("./list/FunctionsPage.svelte"),
    "functions.new": () => import("./editor/FunctionPage.svelte"),
    "functions.pipeline": () => import("./pipeline/PipelinePage.svelte"),
    "functions.edit": () => import("./editor/FunctionPage.svelte"),
  },
});
