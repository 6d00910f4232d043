import { z } from "zod";
import { defineRoute, stream } from "#kernel/http/route.ts";
import { findImportProblems } from "../portable/import-problems.ts";
import { importModels } from "../portable/import.ts";
import type { Listing } from "../records/listing.ts";
import type { ModelParts } from "../parts.ts";
import { exportModels } from "../portable/portable.ts";
import { Model, PortableModels, QueryText } from "../schema.ts";

/** Lists carry pictures: twenty of the largest fit. */
const maxBody = 160 * 1024 * 1024;

const Ids = z.union([QueryText.transform((id) => [id]), z.array(QueryText).max(10_000)]);

/** Export, import and sync (Core API, Models). */
export function portableRoutes(parts: ModelParts, listing: Listing) {
  return [
    defineRoute(
      {
        method: "GET",
        path: "/models/export",
        summary: "Export saved models with their background images",
        access: "admin",
        query: z.object({ ids: Ids.optional() }),
        produces: "application/json",
        fails: [400, 403, 404],
      },
      async ({ caller, query }) =>
        stream(await exportModels(parts, caller, query.ids), { contentType: "application/json" }),
    ),
    defineRoute(
      {
        method: "POST",
        path: "/models/import",
        summary: "Create and update saved models as an export lists them",
        access: "permission:workspace.models_import",
        body: PortableModels,
        maxBody,
        returns: z.literal(true),
        fails: [400, 403, 404, 409, 413],
      },
      async ({ caller, body }) => {
        await importModels(parts, caller, { models: body.models, mode: "merge" });
        return true as const;
      },
    ),
    defineRoute(
      {
        method: "POST",
        path: "/models/import/preview",
        summary: "Name the entries that an import would refuse; changes nothing",
        access: "permission:workspace.models_import",
        body: z.object({
          models: z.array(z.unknown()).max(10_000),
          mode: z.enum(["merge", "exact"]).default("merge"),
        }),
        maxBody,
        returns: z.object({
          problems: z.array(z.object({ index: z.int(), id: z.string().nullable(), reason: z.string() })),
        }),
      },
      async ({ caller, body }) => ({ problems: await findImportProblems(parts, caller, body) }),
    ),
    defineRoute(
      {
        method: "POST",
        path: "/models/sync",
        summary: "Make the saved models exactly those of the list",
        access: "admin",
        body: PortableModels,
        maxBody,
        returns: z.array(Model),
        fails: [400, 403, 404, 409, 413],
      },
      async ({ caller, body }) => {
        await importModels(parts, caller, { models: body.models, mode: "exact" });
        return await listing.all(caller);
      },
    ),
  ] as const;
}
