import { defineWeb } from "#plugins/web/kit/web.ts";

const one = () => import("./AutomationPage.svelte");

export const web = defineWeb({
  pages: {
    automations: () => import("./AutomationsPage.svelte"),
    "automations.new": one,
    "automations.edit": one,
  },
});
