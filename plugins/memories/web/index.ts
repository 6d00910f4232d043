import { t } from "#plugins/web/kit/i18n/index.svelte.ts";
import { defineWeb } from "#plugins/web/kit/web.ts";

export const web = defineWeb({
  pages: { memories: () => import("./MemoriesPage.svelte") },
  settings: [
    async () => [
      {
        page: "memories",
        title: t("Use memories in chats"),
        keywords: t("remember forget personal learned about me"),
      },
    ],
  ],
});
