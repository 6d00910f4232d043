import { access } from "#kernel/access/resource.ts";
import { definePlugin } from "#kernel/plugin.ts";
import { provide } from "#kernel/service.ts";
import { configuration, events } from "#kernel/services.ts";
import { connectionRoutes } from "./connections/routes.ts";
import { createServers } from "./connections/servers.ts";
import { variables } from "./config.ts";
import { toolServerKinds, toolServers } from "./service.ts";
import { createServerSource } from "./source.ts";

export default definePlugin({
  id: "tool-servers",
  title: "Tool servers",
  summary: "Servers whose functions models may call.",
  config: variables,
  uses: { access, configuration, events, kinds: toolServerKinds },
  provides: [toolServers],

  setup({ config, use, log }) {
    const servers = createServers({ config, configuration: use.configuration, access: use.access, log });
    return {
      services: [provide(toolServers, servers)],
      tools: [createServerSource({ servers, kinds: use.kinds, log })],
      routes: {
        api: connectionRoutes({
          config,
          configuration: use.configuration,
          kinds: use.kinds,
          changed: ({ userId: id, name, email, role }, data) =>
            use.events.announce("config.tool_servers.updated", {
              actor: { id, name, email, role },
              subject: null,
              data,
            }),
        }),
      },
    };
  },
});
