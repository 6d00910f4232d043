import { t } from "#plugins/web/kit/i18n/index.svelte.ts";
import { defineWeb } from "#plugins/web/kit/web.ts";

export const web = defineWeb({
  pages: {
    notifications: () => import("./InboxPage.svelte"),
    "notifications.own": () => import("./OwnPage.svelte"),
    "notifications.webhooks": () => import("./WebhooksPage.svelte"),
  },
  pageMarks: [{ page: "notifications", load: () => import("./UnreadMark.svelte") }],
  calls: [
    { type: "notification:created", load: () => import("./follow-server.ts") },
    { type: "notification:read", load: () => import("./follow-server.ts") },
  ],
  settings: [
    async () => [
      {
        page: "notifications.own",
        title: t("This browser"),
        keywords: t("push notification desktop phone alert"),
      },
      { page: "notifications.own", title: t("Addresses"), keywords: t("webhook target Slack Discord Teams") },
    ],
  ],
});
