import { Readable } from "node:stream";
import { z } from "zod";
import { defineRoute, reply } from "#kernel/http/route.ts";
import {
  AccessForm,
  ById,
  CollectionChange,
  CollectionForm,
  FoundFiles,
  Knowledge,
  KnowledgeDetail,
  KnowledgePage,
  ListQuery,
  Page,
  SearchQuery,
  toggle,
} from "../schema.ts";
import type { KnowledgeLogic } from "../logic.ts";

const one = { access: "user", params: ById, returns: Knowledge, fails: [403, 404] } as const;

/** Collections as a whole (contract 6.2). */
export function collectionRoutes(logic: KnowledgeLogic) {
  return [...listRoutes(logic), ...changeRoutes(logic), ...endRoutes(logic)];
}

function listRoutes({ listing, fileList, detail }: KnowledgeLogic) {
  return [
    defineRoute(
      {
        method: "GET",
        path: "/knowledge/",
        summary: "List the collections that the caller may read, those changed last first",
        access: "user",
        query: ListQuery,
        returns: KnowledgePage,
      },
      ({ caller, query }) =>
        listing.page(caller, { order_by: "updated_at", direction: "desc", page: query.page }),
    ),
    defineRoute(
      {
        method: "GET",
        path: "/knowledge/search",
        summary: "Find collections by name and description",
        access: "user",
        query: SearchQuery,
        returns: KnowledgePage,
      },
      ({ caller, query }) => listing.page(caller, query),
    ),
    defineRoute(
      {
        method: "GET",
        path: "/knowledge/search/files",
        summary: "Find files by name over all collections that the caller may read",
        access: "user",
        query: z.object({ query: z.string().max(500).default(""), page: Page }),
        returns: FoundFiles,
      },
      ({ caller, query }) => fileList.search(caller, query.query, query.page),
    ),
    defineRoute(
      {
        ...one,
        method: "GET",
        path: "/knowledge/:id",
        summary: "Read a collection with its files",
        returns: KnowledgeDetail,
      },
      ({ caller, params }) => detail(caller, params.id),
    ),
  ];
}

function changeRoutes({ collections }: KnowledgeLogic) {
  return [
    defineRoute(
      {
        method: "POST",
        path: "/knowledge/create",
        summary: "Make a collection; needs the permission workspace.knowledge",
        access: "user",
        body: CollectionForm,
        returns: Knowledge,
        fails: [403],
        idempotent: true,
      },
      ({ caller, body }) => collections.create(caller, body),
    ),
    defineRoute(
      {
        ...one,
        method: "POST",
        path: "/knowledge/:id/update",
        summary: "Change name, description and meta; keys that are left out stay",
        body: CollectionChange,
      },
      ({ caller, params, body }) => collections.update(caller, params.id, body),
    ),
    defineRoute(
      {
        ...one,
        method: "POST",
        path: "/knowledge/:id/access/update",
        summary: "Say who may read or change a collection",
        body: AccessForm,
      },
      ({ caller, params, body }) => collections.share(caller, params.id, body.access_grants),
    ),
  ];
}

function endRoutes({ collections, exportTexts }: KnowledgeLogic) {
  return [
    defineRoute(
      {
        ...one,
        method: "POST",
        path: "/knowledge/:id/reset",
        summary: "Take every file and directory out of a collection; the files stay with their owners",
      },
      ({ caller, params }) => collections.reset(caller, params.id),
    ),
    defineRoute(
      {
        ...one,
        method: "DELETE",
        path: "/knowledge/:id/delete",
        summary: "Delete a collection; its files too where that is asked for and they lie in no other one",
        query: z.object({ delete_files: toggle(false) }),
        returns: z.literal(true),
      },
      ({ caller, params, query }) => collections.remove(caller, params.id, query.delete_files),
    ),
    defineRoute(
      {
        access: "admin",
        method: "GET",
        path: "/knowledge/:id/export",
        summary: "Download the texts of a collection as a zip of .txt files",
        params: ById,
        produces: "application/zip",
        fails: [404],
      },
      async ({ caller, params }) => {
        const bytes = await exportTexts(caller, params.id);
        return reply(Readable.from(bytes), {
          headers: {
            "content-type": "application/zip",
            "content-disposition": `attachment; filename="knowledge-${params.id}.zip"`,
          },
        });
      },
    ),
  ];
}
