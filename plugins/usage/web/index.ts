import { defineWeb } from "#plugins/web/kit/web.ts";

export const web = defineWeb({
  pages: {
    "usage.own": () => import("./UsagePage.svelte"),
    "usage.analytics": () => import("./analytics/AnalyticsPage.svelte"),
  },
});
