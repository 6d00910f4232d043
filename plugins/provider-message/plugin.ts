import { definePlugin } from "#kernel/plugin.ts";
import { provide } from "#kernel/service.ts";
import { commonConnections } from "#plugins/provider-common/service.ts";
import { createProvider } from "./provider.ts";
import { messageFormat } from "./service.ts";
import { toPrompt } from "./to-prompt.ts";

export default definePlugin({
  id: "provider-message",
  title: "Connections of the vendor message format",
  summary: "Calls providers that speak the vendor's message format.",
  uses: { connections: commonConnections },
  provides: [messageFormat],

  setup: ({ use }) => ({
    providers: [createProvider(use.connections)],
    services: [provide(messageFormat, { toPrompt })],
  }),
});
