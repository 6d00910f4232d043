import { defineWeb } from "#plugins/web/kit/web.ts";

export const web = defineWeb({
  settings: [async () => (await import("./entries.ts")).settingEntries()],
  pageMarks: [{ page: "connections", load: () => import("./ConnectionsMark.svelte") }],
  pages: {
    connections: () => import("./ConnectionsPage.svelte"),
  },
});
