import { defineWeb } from "#plugins/web/kit/web.ts";

export const web = defineWeb({ pages: { apps: () => import("./AppsPage.svelte") } });
