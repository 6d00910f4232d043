import { z } from "zod";
import type { ConfigRegistry } from "#config/registry.ts";
import type { Events } from "#kernel/events.ts";
import { defineRoute } from "#kernel/http/route.ts";
import { waitForLists } from "#kernel/upstream/endpoint-form.ts";
import { EndpointStateQuery, EndpointStates } from "#kernel/upstream/endpoint-state.ts";
import type { CommonConfig } from "../config.ts";
import type { Connections } from "./connections.ts";

export interface SettingsRoutesOptions {
  readonly config: Pick<CommonConfig, "direct" | "baseModelsCache">;
  readonly configuration: ConfigRegistry;
  readonly connections: Pick<Connections, "states" | "offers">;
  readonly events: Pick<Events, "announce">;
}

const View = z
  .object({ ENABLE_DIRECT_CONNECTIONS: z.boolean(), ENABLE_BASE_MODELS_CACHE: z.boolean() })
  .meta({ id: "ConnectionSettings" });

const Form = z.object({
  ENABLE_DIRECT_CONNECTIONS: z.boolean().nullish(),
  ENABLE_BASE_MODELS_CACHE: z.boolean().nullish(),
});

const declared = { path: "/configs/connections", access: "admin", returns: View, alwaysOn: true } as const;

/** What holds for all connections (contract §2.3). */
export function settingsRoutes({ config, configuration, connections, events }: SettingsRoutesOptions) {
  const view = () => ({
    ENABLE_DIRECT_CONNECTIONS: config.direct,
    ENABLE_BASE_MODELS_CACHE: config.baseModelsCache,
  });
  return [
    defineRoute({ ...declared, method: "GET", summary: "Read the settings of all connections" }, view),
    defineRoute(
      { ...declared, method: "POST", summary: "Change the settings of all connections", body: Form },
      async ({ body, caller }) => {
        const given = Object.entries(body).filter(([, value]) => typeof value === "boolean");
        await configuration.set(Object.fromEntries(given), caller.userId);
        const { userId: id, name, email, role } = caller;
        events.announce("config.connections.updated", {
          actor: { id, name, email, role },
          subject: null,
          data: { names: given.map(([changed]) => changed) },
        });
        return view();
      },
    ),
    defineRoute(
      {
        method: "GET",
        path: "/configs/connections/common",
        summary: "Tell how the common-format connections fare and what they offer",
        access: "admin",
        query: EndpointStateQuery,
        returns: EndpointStates,
        alwaysOn: true,
      },
      async ({ query }) => {
        await waitForLists(connections.offers({ refresh: query.refresh }));
        return { data: connections.states() };
      },
    ),
  ] as const;
}
