import { defineWeb } from "#plugins/web/kit/web.ts";

// The same page for both: the first save of a function does not make it anew.
const editor = () => import("./editor/FunctionPage.svelte");

export const web = defineWeb({
  pageMarks: [{ page: "functions.list", load: () => import("./list/FunctionsMark.svelte") }],
  pages: {
    "functions.list": () => import("./list/FunctionsPage.svelte"),
    "functions.new": editor,
    "functions.pipeline": () => import("./pipeline/PipelinePage.svelte"),
    "functions.edit": editor,
  },
});
