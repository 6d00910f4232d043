import { definePlugin, tables } from "#kernel/plugin.ts";
import { fill, optional } from "#kernel/service.ts";
import { configuration, deployment, egress, events, notices } from "#kernel/services.ts";
import { hub } from "#kernel/sockets/hub.ts";
import { audit } from "#plugins/audit/service.ts";
import { files } from "#plugins/files/service.ts";
import { providerTokens } from "#plugins/oauth/service.ts";
import { toolServerKinds, toolServers } from "#plugins/tool-servers/service.ts";
import { mcpVariables } from "./config.ts";
import { createMcp } from "./create-mcp.ts";
import { createOAuthTables } from "./migrations/0001_mcp.ts";
import { offerRoutes } from "./routes/offer-routes.ts";
import { registerRoute } from "./routes/register-route.ts";
import { sessionRoutes } from "./routes/session-routes.ts";
import { signInRoutes } from "./routes/sign-in-routes.ts";
import { otherAccounts } from "./service.ts";
import type { McpTables } from "./tables.ts";

export default definePlugin({
  id: "mcp",
  title: "MCP servers",
  summary: "Tools, resources and prompts of servers that speak the Model Context Protocol.",
  config: mcpVariables,
  uses: {
    audit: optional(audit),
    configuration,
    deployment,
    egress,
    events,
    files: optional(files),
    hub: optional(hub),
    notices,
    otherAccounts,
    providerTokens: optional(providerTokens),
    servers: toolServers,
  },
  tables: tables<McpTables>("oauth_session", "oauth_flow", "oauth_client"),
  migrations: { "0001_mcp": createOAuthTables },
  pages: [
    {
      id: "mcp",
      path: "/settings/connected-accounts",
      title: "Connected accounts",
      icon: "plug",
      place: "settings",
      order: 8,
      access: "user",
    },
  ],

  async setup(context) {
    const { use } = context;
    const mcp = createMcp(context);
    return {
      routes: {
        api: [
          ...sessionRoutes(mcp),
          ...offerRoutes({ ...mcp, files: use.files }),
          registerRoute({ ...mcp, audit: use.audit }),
        ],
        main: signInRoutes(mcp),
      },
      fills: [fill(toolServerKinds, mcp.kind)],
      jobs: [
        { id: "mcp.sweep", title: "Removes expired sign-ins to MCP servers", every: 3600, run: mcp.sweep },
      ],
      start: mcp.start,
      stop: mcp.stop,
    };
  },
});
