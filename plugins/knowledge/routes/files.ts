import { z } from "zod";
import { AppError } from "#kernel/errors.ts";
import { defineRoute, stream } from "#kernel/http/route.ts";
import {
  ById,
  FileForm,
  FilesForm,
  FilesQuery,
  KnowledgeDetail,
  KnowledgeFilePage,
  MoveForm,
  Pending,
  RemoveForm,
  toggle,
} from "../schema.ts";
import type { KnowledgeLogic } from "../logic.ts";

const change = {
  method: "POST",
  access: "user",
  params: ById,
  returns: KnowledgeDetail,
  fails: [400, 403, 404],
} as const;

/** The files of collections (Core API, Files and knowledge; contract 6.2). */
export function fileRoutes(logic: KnowledgeLogic) {
  return [...readRoutes(logic), ...addRoutes(logic), ...changeRoutes(logic)];
}

function readRoutes({ fileList, parts }: KnowledgeLogic) {
  return [
    defineRoute(
      {
        method: "GET",
        path: "/knowledge/:id/files",
        summary: "List a directory of a collection: files by page, directories, and the way to it",
        access: "user",
        params: ById,
        query: FilesQuery,
        returns: KnowledgeFilePage,
        fails: [404],
      },
      ({ caller, params, query }) => fileList.page(caller, params.id, query),
    ),
    defineRoute(
      {
        method: "GET",
        path: "/knowledge/:id/files/pending",
        summary: "Tell which files are not ready, once or as events until all are",
        access: "user",
        params: ById,
        query: z.object({ stream: toggle(false) }),
        returns: Pending,
        fails: [404],
      },
      async ({ caller, params, query, request }) => {
        if (!query.stream) {
          return await fileList.pending(caller, params.id);
        }
        await parts.collections.load(caller, params.id, "read");
        return stream(fileList.follow(caller, params.id, request.signal));
      },
    ),
  ];
}

function addRoutes({ parts, linking, detail }: KnowledgeLogic) {
  return [
    defineRoute(
      {
        ...change,
        path: "/knowledge/:id/file/add",
        summary: "Add a file whose text has been read",
        body: FileForm,
        idempotent: true,
      },
      async ({ caller, params, body }) => {
        await parts.collections.load(caller, params.id, "write");
        const place = { fileIds: [body.file_id], directoryId: body.directory_id ?? null };
        const { refused } = await linking.add(caller, params.id, place);
        if (refused[0] !== undefined) {
          throw new AppError("invalid", refused[0].reason);
        }
        return await detail(caller, params.id);
      },
    ),
    defineRoute(
      {
        ...change,
        path: "/knowledge/:id/files/batch/add",
        summary: "Add several files; those whose text is not there are told as warnings",
        body: FilesForm,
      },
      async ({ caller, params, body }) => {
        await parts.collections.load(caller, params.id, "write");
        const refused = [];
        for (const [directoryId, files] of Map.groupBy(body, (entry) => entry.directory_id ?? null)) {
          const fileIds = files.map(({ file_id }) => file_id);
          refused.push(...(await linking.add(caller, params.id, { fileIds, directoryId })).refused);
        }
        return await detail(caller, params.id, refused);
      },
    ),
  ];
}

function changeRoutes({ parts, linking, detail }: KnowledgeLogic) {
  return [
    defineRoute(
      {
        ...change,
        path: "/knowledge/:id/file/update",
        summary: "Read a file of the collection anew, such as one that failed",
        body: FileForm.pick({ file_id: true }),
      },
      async ({ caller, params, body }) => {
        await parts.collections.load(caller, params.id, "write");
        await linking.retry(caller, params.id, await linking.require(params.id, [body.file_id]));
        return await detail(caller, params.id);
      },
    ),
    defineRoute(
      {
        ...change,
        path: "/knowledge/:id/file/remove",
        summary: "Take files out of the collection; their owner may have them deleted as well",
        query: z.object({ delete_file: toggle(false) }),
        body: RemoveForm,
      },
      async ({ caller, params, query, body }) => {
        await parts.collections.load(caller, params.id, "write");
        const rows = await linking.require(params.id, toIds(body));
        await linking.remove(caller, params.id, { rows, deletesFiles: query.delete_file });
        return await detail(caller, params.id);
      },
    ),
    defineRoute(
      {
        ...change,
        path: "/knowledge/:id/file/move",
        summary: "Put files into another directory of the collection, or to its root with null",
        body: MoveForm,
      },
      async ({ caller, params, body }) => {
        await parts.collections.load(caller, params.id, "write");
        const rows = await linking.require(params.id, toIds(body));
        await linking.move(caller, params.id, { rows, directoryId: body.directory_id });
        return await detail(caller, params.id);
      },
    ),
  ];
}

function toIds({ file_id: one, file_ids: several = [] }: z.output<typeof RemoveForm>): string[] {
  const ids = [...(one === undefined ? [] : [one]), ...several];
  if (ids.length === 0) {
    throw new AppError("invalid", "file_id: is missing.");
  }
  return ids;
}
