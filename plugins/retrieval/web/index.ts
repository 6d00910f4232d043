import { t } from "#plugins/web/kit/i18n/index.svelte.ts";
import { defineWeb } from "#plugins/web/kit/web.ts";

export const web = defineWeb({
  pages: { "retrieval.lab": () => import("./LabPage.svelte") },
  fileViews: [
    {
      id: "passages",
      get title() {
        return t("Passages");
      },
      load: () => import("./FilePassages.svelte"),
    },
  ],
});
