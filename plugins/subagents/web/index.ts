import { defineWeb } from "#plugins/web/kit/web.ts";

export const web = defineWeb({
  callCards: [{ tool: "delegate_task", load: () => import("./SubagentCards.svelte") }],
});
