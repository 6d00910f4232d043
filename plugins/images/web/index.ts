import { session } from "#plugins/web/kit/stores/session.svelte.ts";
import { defineWeb } from "#plugins/web/kit/web.ts";

export const web = defineWeb({
  listed: { images: () => session.has("enable_image_generation") },
  settings: [async () => (await import("./entries.ts")).settingEntries()],
  pages: {
    images: () => import("./ImagesPage.svelte"),
    "images.settings": () => import("./ImageSettingsPage.svelte"),
  },
});
