import { defineWeb } from "#plugins/web/kit/web.ts";

export const web = defineWeb({
  settings: [async () => (await import("./entries.ts")).settingEntries()],
  pages: {
    images: () => import("./ImagesPage.svelte"),
    "images.settings": () => import("./ImageSettingsPage.svelte"),
  },
});
