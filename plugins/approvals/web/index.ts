import { defineWeb } from "#plugins/web/kit/web.ts";

export const web = defineWeb({ pages: { approvals: () => import("./ApprovalsPage.svelte") } });
