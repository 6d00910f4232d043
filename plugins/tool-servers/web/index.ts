import { session } from "#plugins/web/kit/stores/session.svelte.ts";
import { defineWeb } from "#plugins/web/kit/web.ts";

export const web = defineWeb({
  settings: [async () => (await import("./entries.ts")).settingEntries()],
  pages: {
    "tool-servers": () => import("./ToolServersPage.svelte"),
    "tool-servers.own": () => import("./own/OwnServersPage.svelte"),
  },
  calls: [{ type: "execute:tool", load: () => import("./own/answer-call.ts") }],
  requestParts: [
    {
      isNeeded: () => session.may("features.direct_tool_servers"),
      load: () => import("./own/request-part.ts"),
    },
  ],
});
