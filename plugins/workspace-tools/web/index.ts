import { defineWeb } from "#plugins/web/kit/web.ts";

export const web = defineWeb({
  pages: {
    "workspace-tools.list": () => import("./list/ToolsPage.svelte"),
    "workspace-tools.new": () => import("./editor/ToolPage.svelte"),
    "workspace-tools.edit": () => import("./editor/ToolPage.svelte"),
  },
});
