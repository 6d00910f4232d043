import { z } from "zod";
import type { ConfigRegistry } from "#config/registry.ts";
import { defineRoute } from "#kernel/http/route.ts";
import type { Principal } from "#kernel/access/principal.ts";
import type { Events } from "#kernel/events.ts";
import { Arenas } from "../catalogue/arena.ts";
import { ModelMeta, ModelParams } from "../schema.ts";

const ModelsConfig = z
  .object({
    DEFAULT_MODELS: z.string().nullish(),
    DEFAULT_PINNED_MODELS: z.string().nullish(),
    MODEL_ORDER_LIST: z.array(z.string()).nullish(),
    DEFAULT_MODEL_METADATA: z.record(z.string(), z.unknown()).nullish(),
    DEFAULT_MODEL_PARAMS: z.record(z.string(), z.unknown()).nullish(),
  })
  .meta({ id: "ModelsConfig" });

const ModelsConfigForm = ModelsConfig.extend({
  DEFAULT_MODEL_METADATA: ModelMeta.nullish(),
  DEFAULT_MODEL_PARAMS: ModelParams.nullish(),
}).meta({ id: "ModelsConfigForm" });

const ArenaConfig = z
  .object({
    ENABLE_EVALUATION_ARENA_MODELS: z.boolean().nullish(),
    EVALUATION_ARENA_MODELS: Arenas.nullish(),
  })
  .meta({ id: "ArenaConfig" });

const arenaNames = Object.keys(ArenaConfig.shape);
const names = Object.keys(ModelsConfig.shape) as (keyof z.output<typeof ModelsConfig>)[];

/** The instance's defaults for models (contract 2.3) and its arena models (contract §10). */
export function configRoutes(configuration: ConfigRegistry, events: Events) {
  const settings = createSettings(configuration, events);
  return [...defaultsRoutes(settings, configuration), ...arenaRoutes(settings)] as const;
}

type Settings = ReturnType<typeof createSettings>;

function createSettings(configuration: ConfigRegistry, events: Events) {
  return {
    read: (list: readonly string[]) =>
      Object.fromEntries(list.map((name) => [name, configuration.valueOf(name)])),

    /** Null goes back to what the environment or the default says. */
    async change(caller: Principal, body: Record<string, unknown>): Promise<void> {
      const changes = Object.entries(body).filter(([, value]) => value !== undefined);
      const cleared = changes.filter(([, value]) => value === null).map(([name]) => name);
      const set = Object.fromEntries(changes.filter(([, value]) => value !== null));
      await configuration.set(set, caller.userId);
      if (cleared.length > 0) {
        await configuration.reset(cleared, caller.userId);
      }
      events.announce("config.models.updated", {
        actor: { id: caller.userId, name: caller.name, email: caller.email, role: caller.role },
        subject: null,
        data: { names: changes.map(([name]) => name) },
      });
    },
  };
}

function defaultsRoutes({ read, change }: Settings, configuration: ConfigRegistry) {
  return [
    defineRoute(
      {
        method: "GET",
        path: "/configs/models",
        summary: "Read the defaults for models",
        access: "admin",
        returns: ModelsConfig,
      },
      () => read(names),
    ),
    defineRoute(
      {
        method: "POST",
        path: "/configs/models",
        summary: "Change the defaults for models",
        access: "admin",
        body: ModelsConfigForm,
        returns: ModelsConfig,
      },
      async ({ body, caller }) => {
        await change(caller, body);
        return read(names);
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
  ] as const;
}

function arenaRoutes({ read, change }: Settings) {
  return [
    defineRoute(
      {
        method: "GET",
        path: "/evaluations/config",
        summary: "Read the arena models",
        access: "admin",
        returns: ArenaConfig,
      },
      () => read(arenaNames),
    ),
    defineRoute(
      {
        method: "POST",
        path: "/evaluations/config",
        summary: "Change the arena models",
        access: "admin",
        body: ArenaConfig,
        returns: ArenaConfig,
      },
      async ({ body, caller }) => {
        await change(caller, body);
        return read(arenaNames);
      },
    ),
  ] as const;
}
