import { defineWeb } from "#plugins/web/kit/web.ts";

export const web = defineWeb({
  pages: {
    gateway: () => import("./GatewayPage.svelte"),
    "gateway.workspace": () => import("./workspace/WorkspacePage.svelte"),
  },
});
