import { z } from "zod";
import type { ConfigRegistry } from "#config/registry.ts";
import { defineRoute } from "#kernel/http/route.ts";
import type { CommonConfig } from "../config.ts";

export interface SettingsRoutesOptions {
  readonly config: Pick<CommonConfig, "direct" | "baseModelsCache">;
  readonly configuration: ConfigRegistry;
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
export function settingsRoutes({ config, configuration }: SettingsRoutesOptions) {
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
        return view();
      },
    ),
  ] as const;
}
