import { defineWeb } from "#plugins/web/kit/web.ts";

export const web = defineWeb({
  pages: {
    "feedback.evaluations": () => import("./EvaluationsPage.svelte"),
  },
});
