import { z } from "zod";
import type { ConfigRegistry } from "#config/registry.ts";
import { defineRoute } from "#kernel/http/route.ts";
import type { Catalogue } from "./catalogue.ts";

const ModelList = z
  .object({ data: z.array(z.looseObject({ id: z.string(), owned_by: z.string() })) })
  .meta({ id: "ModelList" });

const ModelsConfig = z
  .object({
    DEFAULT_MODELS: z.string().nullish(),
    DEFAULT_PINNED_MODELS: z.string().nullish(),
    MODEL_ORDER_LIST: z.array(z.string()).nullish(),
    DEFAULT_MODEL_METADATA: z.record(z.string(), z.unknown()).nullish(),
    DEFAULT_MODEL_PARAMS: z.record(z.string(), z.unknown()).nullish(),
  })
  .meta({ id: "ModelsConfig" });

/** The model list (Core API, Models) and the instance's defaults for models. */
export function modelRoutes(catalogue: Catalogue, configuration: ConfigRegistry) {
  const list = defineRoute(
    {
      method: "GET",
      path: "/api/models",
      summary: "List the models the caller may use",
      access: "user",
      query: z.object({ refresh: z.string().optional() }),
      returns: ModelList,
    },
    async ({ caller, query }) => ({
      data: await catalogue.list(caller, { refresh: query.refresh === "true" }),
    }),
  );
  const base = defineRoute(
    {
      method: "GET",
      path: "/api/models/base",
      summary: "List the providers' own models",
      access: "admin",
      returns: ModelList,
    },
    async () => ({ data: await catalogue.base() }),
  );
  return {
    main: [list, base],
    api: [{ ...list, path: "/models" as const, hidden: true }, ...configRoutes(configuration)],
  };
}

const names = Object.keys(ModelsConfig.shape) as (keyof z.output<typeof ModelsConfig>)[];

function configRoutes(configuration: ConfigRegistry) {
  const current = () => Object.fromEntries(names.map((name) => [name, configuration.valueOf(name)]));
  return [
    defineRoute(
      {
        method: "GET",
        path: "/configs/models",
        summary: "Read the defaults for models",
        access: "admin",
        returns: ModelsConfig,
      },
      current,
    ),
    defineRoute(
      {
        method: "POST",
        path: "/configs/models",
        summary: "Change the defaults for models",
        access: "admin",
        body: ModelsConfig,
        returns: ModelsConfig,
      },
      async ({ body, caller }) => {
        const changes = Object.entries(body).filter(([, value]) => value !== undefined);
        const cleared = changes.filter(([, value]) => value === null).map(([name]) => name);
        await configuration.set(
          Object.fromEntries(changes.filter(([, value]) => value !== null)),
          caller.userId,
        );
        if (cleared.length > 0) {
          await configuration.reset(cleared, caller.userId);
        }
        return current();
      },
    ),
    defineRoute(
      {
        method: "GET",
        path: "/configs/models/defaults",
        summary: "Read the default metadata of models",
        access: "user",
        returns: z.object({ DEFAULT_MODEL_METADATA: z.record(z.string(), z.unknown()) }),
      },
      () => ({
        DEFAULT_MODEL_METADATA: configuration.valueOf("DEFAULT_MODEL_METADATA") as Record<string, unknown>,
      }),
    ),
  ];
}
