import { defineWeb } from "../web.ts";

/** The page that shows the kit, while the server runs for development. */
export const web = defineWeb({ pages: { "web.kit": () => import("./KitPage.svelte") } });
