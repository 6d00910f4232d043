import { mount, unmount } from "svelte";
import { t } from "#plugins/web/kit/i18n/index.svelte.ts";
import { type ComposerHandle, defineWeb } from "#plugins/web/kit/web.ts";
import { mcpServers } from "./servers.svelte.ts";

export const web = defineWeb({
  pages: { mcp: () => import("./ConnectedAccountsPage.svelte") },
  settings: [
    async () => [
      {
        page: "mcp",
        title: t("Connected accounts"),
        keywords: t("sign-in MCP tool servers OAuth disconnect"),
      },
    ],
  ],
  composer: [
    {
      id: "mcp.offer",
      get title() {
        return t("From a tool server");
      },
      icon: "plug",
      order: 60,
      isAvailable: () => mcpServers.want().length > 0,
      run: openOffer,
    },
  ],
});

/** Shows what servers offer; the dialog is there as long as it is open. */
async function openOffer(composer: ComposerHandle): Promise<void> {
  const { default: OfferDialog } = await import("./offer/OfferDialog.svelte");
  const dialog = mount(OfferDialog, {
    target: document.body,
    props: { composer, onclosed: () => void unmount(dialog) },
  });
}
