import { core } from "#config/core.ts";
import { access } from "#kernel/access/resource.ts";
import { definePlugin } from "#kernel/plugin.ts";
import { fill, optional, provide } from "#kernel/service.ts";
import { configuration, egress, events } from "#kernel/services.ts";
import { hub } from "#kernel/sockets/hub.ts";
import { createUserHeaders } from "#kernel/upstream/user-headers.ts";
import { providerTokens } from "#plugins/oauth/service.ts";
import { toolListings } from "#plugins/tools/service.ts";
import { findGroupNames } from "#kernel/upstream/group-names.ts";
import { connectionRoutes } from "./connections/routes.ts";
import { createServers } from "./connections/servers.ts";
import { stateRoutes } from "./connections/state-routes.ts";
import { variables } from "./config.ts";
import { createListing } from "./listing.ts";
import { loadOffer } from "./openapi/documents.ts";
import { createServerHeaders } from "./openapi/headers.ts";
import { createOpenApiKind } from "./openapi/kind.ts";
import { createOffers } from "./openapi/offers.ts";
import { createOwnSource } from "./own/own-source.ts";
import { toolServerKinds, toolServers } from "./service.ts";
import { createServerSource } from "./source.ts";

export default definePlugin({
  id: "tool-servers",
  title: "Tool servers",
  summary: "Servers whose functions models may call.",
  config: { ...variables, toolServerTimeout: core.toolServerTimeout },
  uses: {
    access,
    configuration,
    egress,
    events,
    hub,
    kinds: toolServerKinds,
    providerTokens: optional(providerTokens),
  },
  provides: [toolServers],
  pages: [
    {
      id: "tool-servers",
      path: "/admin/tool-servers",
      title: "Tool servers",
      icon: "wrench",
      place: "admin",
      group: "models",
      order: 25,
      access: "admin",
    },
    {
      id: "tool-servers.own",
      path: "/settings/tool-servers",
      title: "Own tool servers",
      icon: "wrench",
      place: "settings",
      order: 40,
      access: "permission:features.direct_tool_servers",
    },
  ],

  setup({ config, use, db, log }) {
    const { egress, kinds } = use;
    const servers = createServers({ config, configuration: use.configuration, access: use.access, log });
    const headers = createServerHeaders({
      users: createUserHeaders(config),
      providerTokens: use.providerTokens,
      groupNames: (ids) => findGroupNames(db, ids),
    });
    const offers = createOffers({
      servers,
      log,
      load: async (connection, signal) =>
        await loadOffer(egress, connection, { headers: await headers.build(connection, undefined), signal }),
    });
    const callTimeout = () => config.toolServerTimeout;
    const openApi = createOpenApiKind({ egress, headers, offers, callTimeout });
    return {
      services: [provide(toolServers, servers)],
      tools: [createServerSource({ servers, kinds, log }), createOwnSource({ hub: use.hub, callTimeout })],
      fills: [fill(toolServerKinds, openApi), fill(toolListings, createListing({ servers, kinds }))],
      routes: {
        api: [
          ...connectionRoutes({
            config,
            configuration: use.configuration,
            kinds,
            changed: ({ userId: id, name, email, role }, data) =>
              use.events.announce("config.tool_servers.updated", {
                actor: { id, name, email, role },
                subject: null,
                data,
              }),
          }),
          ...stateRoutes({ servers, kinds }),
        ],
      },
      start() {
        servers.changed(() => offers.follow());
        offers.follow();
      },
    };
  },
});
