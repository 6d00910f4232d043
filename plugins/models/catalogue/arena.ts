import { GrantInputs } from "#kernel/access/grant-inputs.ts";
import { z } from "zod";
import { bool, json } from "#config/variable.ts";

/** A model that answers with a member chosen by chance, so that answers can be judged without a name (contract §10). */
export const ArenaModel = z
  .looseObject({
    id: z.string().min(1).max(256).default("arena-model"),
    name: z.string().trim().min(1).max(1000).default("Arena Model"),
    meta: z
      .looseObject({
        description: z.string().nullish(),
        /** Null or left out: every model the caller may use. */
        model_ids: z.array(z.string()).nullish(),
        filter_mode: z.enum(["include", "exclude"]).nullish(),
        access_grants: GrantInputs.nullish(),
      })
      .default({}),
  })
  .meta({ id: "ArenaModel" });

export type Arena = z.output<typeof ArenaModel>;

export const Arenas = z
  .array(ArenaModel)
  .max(200)
  .refine((list) => new Set(list.map(({ id }) => id)).size === list.length, "names an id twice");

export const arenaVariables = {
  arenaEnabled: bool("ENABLE_EVALUATION_ARENA_MODELS", true, {
    key: "evaluation.arena.enable",
    persisted: true,
    text: "Offer the arena models of EVALUATION_ARENA_MODELS",
  }),
  arenas: json("EVALUATION_ARENA_MODELS", [] as Arena[], {
    schema: Arenas as z.ZodType<Arena[]>,
    key: "evaluation.arena.models",
    persisted: true,
    ignoreInvalid: true,
    text: "Models that answer with a member chosen by chance: {id, name, meta: {model_ids, filter_mode, access_grants}}",
  }),
};

/** The ids an arena chooses from, out of those that the caller may use. */
export function toMembers({ meta }: Arena, usable: readonly { id: string; hidden: boolean }[]): string[] {
  const named = new Set(meta.model_ids ?? []);
  if (meta.filter_mode === "exclude") {
    return usable.filter(({ id, hidden }) => !named.has(id) && !hidden).map(({ id }) => id);
  }
  // Left out or empty means all; a hidden model takes part only where it is named.
  const chosen = named.size === 0 ? usable.filter(({ hidden }) => !hidden) : usable;
  return chosen.filter(({ id }) => named.size === 0 || named.has(id)).map(({ id }) => id);
}
