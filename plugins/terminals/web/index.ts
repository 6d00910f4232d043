import { t } from "#plugins/web/kit/i18n/index.svelte.ts";
import { defineWeb } from "#plugins/web/kit/web.ts";

export const web = defineWeb({
  pages: { "terminals.admin": () => import("./admin/TerminalsPage.svelte") },
  panels: [
    {
      id: "terminals",
      get title() {
        return t("Terminal");
      },
      icon: "terminal",
      feature: "enable_terminal_servers",
      load: () => import("./panel/TerminalPanel.svelte"),
    },
  ],
});
