import { defineWeb } from "#plugins/web/kit/web.ts";

export const web = defineWeb({
  callCards: [{ tool: "timer", load: () => import("./TimerCards.svelte") }],
});
