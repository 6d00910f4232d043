import { z } from "zod";
import { defineRoute } from "#kernel/http/route.ts";
import {
  ById,
  Cleanup,
  DirectoryChange,
  DirectoryForm,
  KnowledgeDirectory,
  Manifest,
  SyncDiff,
  toggle,
} from "../schema.ts";
import type { KnowledgeLogic } from "../logic.ts";

const change = { method: "POST", access: "user", params: ById, fails: [400, 403, 404, 409] } as const;
const InCollection = ById.extend({ directory: z.string().min(1).max(200) });

/** Directories of collections, and folders of clients that are kept in step with them (contract 6.2). */
export function directoryRoutes({ directories, sync }: KnowledgeLogic) {
  return [
    defineRoute(
      {
        ...change,
        path: "/knowledge/:id/dirs/create",
        summary: "Make a directory in a collection",
        body: DirectoryForm,
        returns: KnowledgeDirectory,
      },
      ({ caller, params, body }) =>
        directories.create(caller, params.id, { name: body.name, parentId: body.parent_id ?? null }),
    ),
    defineRoute(
      {
        ...change,
        path: "/knowledge/:id/dirs/:directory/update",
        summary: "Name a directory anew, or put it into another one",
        params: InCollection,
        body: DirectoryChange,
        returns: KnowledgeDirectory,
      },
      ({ caller, params, body }) =>
        directories.update(
          caller,
          { knowledgeId: params.id, id: params.directory },
          { name: body.name, parentId: body.parent_id },
        ),
    ),
    defineRoute(
      {
        ...change,
        method: "DELETE",
        path: "/knowledge/:id/dirs/:directory/delete",
        summary: "Delete a directory; its files move up, or leave the collection with move_files=false",
        params: InCollection,
        query: z.object({ move_files: toggle(true) }),
        returns: z.literal(true),
      },
      ({ caller, params, query }) =>
        directories.remove(caller, { knowledgeId: params.id, id: params.directory }, query.move_files),
    ),
    defineRoute(
      {
        ...change,
        path: "/knowledge/:id/sync/diff",
        summary: "Compare a folder of the client with the collection",
        body: Manifest,
        returns: SyncDiff,
        maxBody: 16 * 1024 * 1024,
      },
      ({ caller, params, body }) => sync.diff(caller, params.id, body),
    ),
    defineRoute(
      {
        ...change,
        path: "/knowledge/:id/sync/cleanup",
        summary: "Take away what the folder of the client does not hold any more",
        body: Cleanup,
        returns: z.literal(true),
      },
      ({ caller, params, body }) =>
        sync.cleanup(caller, params.id, { fileIds: body.file_ids, directoryIds: body.dir_ids }),
    ),
  ];
}
