import { z } from "zod";
import { defineRoute } from "#kernel/http/route.ts";
import type { Listing } from "../records/listing.ts";
import type { SavedModels } from "../records/saved-models.ts";
import { AccessChange, ListQuery, Model, ModelChange, ModelDetails, NewModel, QueryText } from "../schema.ts";

const ById = z.object({ id: QueryText });
const Tags = z.array(z.string());

/** Saved models (contract 2.2). */
export function recordRoutes(models: SavedModels) {
  return [
    defineRoute(
      {
        method: "POST",
        path: "/models/create",
        summary: "Save a model",
        access: "permission:workspace.models",
        body: NewModel,
        returns: ModelDetails,
        fails: [400, 403, 404, 409, 413],
      },
      ({ caller, body }) => models.create(caller, body),
    ),
    defineRoute(
      {
        method: "GET",
        path: "/models/model",
        summary: "Get a saved model; without prompt, parameters and knowledge for those who may only use it",
        access: "user",
        query: ById,
        returns: ModelDetails,
        fails: [404],
      },
      ({ caller, query }) => models.get(caller, query.id),
    ),
    defineRoute(
      {
        method: "POST",
        path: "/models/model/update",
        summary: "Change a saved model; what is left out stays as it is",
        access: "user",
        body: ModelChange,
        returns: ModelDetails,
        fails: [400, 403, 404, 409, 413],
      },
      ({ caller, body }) => models.update(caller, body),
    ),
    defineRoute(
      {
        method: "POST",
        path: "/models/model/access/update",
        summary: "Say who may use or change a saved model",
        access: "user",
        body: AccessChange,
        returns: ModelDetails,
        fails: [403, 404],
      },
      ({ caller, body }) => models.share(caller, body),
    ),
  ] as const;
}

/** Actions on a saved model besides editing it (contract 2.2). */
export function stateRoutes(models: SavedModels) {
  return [
    defineRoute(
      {
        method: "POST",
        path: "/models/model/toggle",
        summary: "Switch a saved model on or off",
        access: "user",
        query: ById,
        returns: ModelDetails,
        fails: [403, 404],
      },
      ({ caller, query }) => models.toggle(caller, query.id),
    ),
    defineRoute(
      {
        method: "POST",
        path: "/models/model/delete",
        summary: "Delete a saved model",
        access: "user",
        body: z.object({ id: QueryText }),
        returns: z.literal(true),
        fails: [403, 404],
      },
      async ({ caller, body }) => {
        await models.remove(caller, body.id);
        return true as const;
      },
    ),
    defineRoute(
      {
        method: "DELETE",
        path: "/models/delete/all",
        summary: "Delete every saved model",
        access: "admin",
        returns: z.literal(true),
      },
      async ({ caller }) => {
        await models.removeAll(caller);
        return true as const;
      },
    ),
  ] as const;
}

/** Lists of saved models (contract 2.2). */
export function listRoutes(listing: Listing) {
  const toTags = (summary: string) => ({ method: "GET", summary, returns: Tags }) as const;
  return [
    defineRoute(
      {
        method: "GET",
        path: "/models/list",
        summary: "List workspace models by page",
        access: "user",
        query: ListQuery,
        returns: z.object({ items: z.array(ModelDetails), total: z.number() }),
      },
      ({ caller, query }) => listing.page(caller, query),
    ),
    defineRoute(
      {
        method: "GET",
        path: "/models/all",
        summary: "List every saved model, also those that no connection offers",
        access: "admin",
        returns: z.array(Model),
      },
      ({ caller }) => listing.all(caller),
    ),
    defineRoute(
      {
        method: "GET",
        path: "/models/base",
        summary: "List the records that edit providers' models",
        access: "admin",
        returns: z.array(ModelDetails),
      },
      ({ caller }) => listing.base(caller),
    ),
    defineRoute(
      {
        ...toTags("List the tags of the records that edit providers' models"),
        path: "/models/base/tags",
        access: "admin",
      },
      () => listing.baseTags(),
    ),
    defineRoute(
      { ...toTags("List the tags of workspace models"), path: "/models/tags", access: "user" },
      ({ caller }) => listing.tags(caller),
    ),
  ] as const;
}
