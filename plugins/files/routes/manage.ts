import { z } from "zod";
import { defineRoute } from "#kernel/http/route.ts";
import type { FileActions } from "../files.ts";
import { File, FileId, FileText, NewFileText, Removed, toggle, UploadedFile } from "../schema.ts";
import type { CountPassages } from "../passages.ts";
import type { Files } from "../service.ts";

/** Upload, changes and removal of files (Core API, Files and knowledge). */
export function manageRoutes(service: Files, actions: FileActions, passages: CountPassages) {
  return [
    defineRoute(
      {
        method: "POST",
        path: "/files/",
        summary: "Upload a file",
        access: "permission:chat.file_upload",
        query: z.object({ process: toggle(true), process_in_background: toggle(true) }),
        upload: true,
        idempotent: true,
        returns: UploadedFile,
        fails: [400, 408, 413],
      },
      async ({ query, upload, caller, request }) => {
        const inBackground = query.process_in_background;
        const wishes = { process: query.process, inBackground, signal: request.signal };
        return { ...(await actions.upload(caller, upload, wishes)), status: true };
      },
    ),
    defineRoute(
      {
        method: "GET",
        path: "/files/:id",
        summary: "Read a file",
        access: "user",
        params: FileId,
        returns: File,
        fails: [404],
      },
      async ({ params, caller }) => {
        const file = await service.load(caller, params.id, "read");
        return (await passages([file]))[0] ?? file;
      },
    ),
    ...changeRoutes(actions),
    ...removalRoutes(service, actions),
  ];
}

function changeRoutes(actions: FileActions) {
  return [
    defineRoute(
      {
        method: "POST",
        path: "/files/:id/rename",
        summary: "Rename a file",
        access: "user",
        params: FileId,
        body: z.object({ filename: z.string().trim().min(1).max(1000) }),
        returns: File,
        fails: [400, 403, 404],
      },
      ({ params, body, caller }) => actions.rename(caller, params.id, body.filename),
    ),
    defineRoute(
      {
        method: "POST",
        path: "/files/:id/data/content/update",
        summary: "Replace a file's text",
        access: "user",
        params: FileId,
        body: NewFileText,
        returns: FileText,
        fails: [403, 404],
      },
      async ({ params, body, caller }) => {
        await actions.setContent(caller, params.id, body.content);
        return body;
      },
    ),
  ];
}

function removalRoutes(service: Files, actions: FileActions) {
  return [
    defineRoute(
      {
        method: "DELETE",
        path: "/files/all",
        summary: "Delete every file of the installation",
        access: "admin",
        returns: Removed,
      },
      async ({ caller }) => {
        await actions.removeAll(caller);
        return { message: "All files deleted successfully" };
      },
    ),
    defineRoute(
      {
        method: "DELETE",
        path: "/files/:id",
        summary: "Delete a file",
        access: "user",
        params: FileId,
        returns: Removed,
        fails: [403, 404],
      },
      async ({ params, caller }) => {
        await service.remove(caller, params.id);
        return { message: "File deleted successfully" };
      },
    ),
  ];
}
