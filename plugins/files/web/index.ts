import { defineWeb } from "#plugins/web/kit/web.ts";

export const web = defineWeb({
  pages: { files: () => import("./FilePage.svelte"), "files.own": () => import("./own/OwnFilesPage.svelte") },
});
