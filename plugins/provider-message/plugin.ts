import { definePlugin } from "#kernel/plugin.ts";
import { commonConnections } from "#plugins/provider-common/service.ts";
import { createProvider } from "./provider.ts";

export default definePlugin({
  id: "provider-message",
  title: "Connections of the vendor message format",
  uses: { connections: commonConnections },

  setup: ({ use }) => ({ providers: [createProvider(use.connections)] }),
});
