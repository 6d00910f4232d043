import { defineWeb } from "#plugins/web/kit/web.ts";

export const web = defineWeb({
  settings: [async () => (await import("./entries.ts")).settingEntries()],
  pageMarks: [{ page: "operations.jobs", load: () => import("./jobs/JobsMark.svelte") }],
  pages: {
    "operations.plugins": () => import("./plugins/PluginsPage.svelte"),
    "operations.jobs": () => import("./jobs/JobsPage.svelte"),
    "operations.health": () => import("./health/HealthPage.svelte"),
  },
});
