import { z } from "zod";
import type { ConfigRegistry } from "#config/registry.ts";
import { defineRoute } from "#kernel/http/route.ts";
import type { Principal } from "#kernel/access/principal.ts";
import type { Events } from "#kernel/events.ts";
import { Arenas } from "../arena.ts";

const ModelsConfig = z
  .object({
    DEFAULT_MODELS: z.string().nullish(),
    DEFAULT_PINNED_MODELS: z.string().nullish(),
    MODEL_ORDER_LIST: z.array(z.string()).nullish(),
    DEFAULT_MODEL_METADATA: z.record(z.string(), z.unknown()).nullish(),
    DEFAULT_MODEL_PARAMS: z.record(z.string(), z.unknown()).nullish(),
  })
  .meta({ id: "ModelsConfig" });

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
  const read = (list: readonly string[]) => () =>
    Object.fromEntries(list.map((name) => [name, configuration.valueOf(name)]));
  const current = read(names);
  const arena = read(arenaNames);
  async function change(caller: Principal, body: Record<string, unknown>): Promise<void> {
    const changes = Object.entries(body).filter(([, value]) => value !== undefined);
    const cleared = changes.filter(([, value]) => value === null).map(([name]) => name);
    await configuration.set(Object.fromEntries(changes.filter(([, value]) => value !== null)), caller.userId);
    if (cleared.length > 0) {
      await configuration.reset(cleared, caller.userId);
    }
    events.announce("config.models.updated", {
      actor: { id: caller.userId, name: caller.name, email: caller.email, role: caller.role },
      subject: null,
      data: { names: changes.map(([name]) => name) },
    });
  }
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
        await change(caller, body);
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
    defineRoute(
      {
        method: "GET",
        path: "/evaluations/config",
        summary: "Read the arena models",
        access: "admin",
        returns: ArenaConfig,
      },
      arena,
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
        return arena();
      },
    ),
  ] as const;
}
