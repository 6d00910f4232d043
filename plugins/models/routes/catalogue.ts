import { z } from "zod";
import { AppError } from "#kernel/errors.ts";
import { defineRoute } from "#kernel/http/route.ts";
import type { Catalogue } from "../catalogue/catalogue.ts";

const ModelList = z
  .object({ data: z.array(z.looseObject({ id: z.string(), owned_by: z.string() })) })
  .meta({ id: "ModelList" });

/** The model list (Core API, Models; contract 2.1). */
export function catalogueRoutes(catalogue: Catalogue) {
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
  const unload = defineRoute(
    {
      method: "POST",
      path: "/api/models/unload",
      summary: "Free what upstreams hold in memory for a model",
      access: "admin",
      body: z.object({ model: z.string().min(1).max(1024) }),
      returns: z.object({ status: z.literal(true) }),
      fails: [400, 404, 502, 504],
    },
    async ({ caller, body, request }) => {
      const { model, provider } = await catalogue.find(body.model);
      if (provider.unload === undefined) {
        throw new AppError("invalid", "The provider of this model cannot unload it.");
      }
      await provider.unload({ model, principal: caller, signal: request.signal });
      return { status: true as const };
    },
  );
  return {
    main: [list, base, unload],
    api: [{ ...list, path: "/models" as const, hidden: true }],
  };
}
