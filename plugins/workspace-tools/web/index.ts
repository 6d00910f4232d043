import { defineWeb } from "#plugins/web/kit/web.ts";

// The same page for both: the first save of a tool does not make it anew.
const editor = () => import("./editor/ToolPage.svelte");

export const web = defineWeb({
  pages: {
    "workspace-tools.list": () => import("./list/ToolsPage.svelte"),
    "workspace-tools.new": editor,
    "workspace-tools.edit": editor,
  },
});
