import { defineWeb } from "#plugins/web/kit/web.ts";

export const web = defineWeb({
  settings: [async () => (await import("./entries.ts")).settingEntries()],
  pages: {
    "mfa.security": () => import("./SecurityPage.svelte"),
    "mfa.admin": () => import("./SecondFactorPage.svelte"),
  },
});
