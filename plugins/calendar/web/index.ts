import { defineWeb } from "#plugins/web/kit/web.ts";

export const web = defineWeb({
  pages: { calendar: () => import("./CalendarPage.svelte") },
  calls: [{ type: "calendar:alert", load: () => import("./show-alert.ts") }],
});
