import { z } from "zod";
import { GrantInputs } from "#kernel/access/grant-inputs.ts";
import { defineRoute } from "#kernel/http/route.ts";
import type { FolderActions } from "./folders.ts";
import {
  ById,
  Folder,
  FolderChange,
  FolderChat,
  FolderItem,
  NewFolder,
  ParentChange,
  SharedFolder,
} from "./schema.ts";
import type { FolderSharing } from "./sharing.ts";
import type { FolderTree } from "./tree.ts";

const access = "permission:features.folders";
const change = { method: "POST", access, params: ById, returns: Folder } as const;

/** Folders as a whole (contract 7.2). */
export function folderRoutes(folders: FolderActions) {
  return [
    defineRoute(
      {
        method: "GET",
        path: "/folders/",
        summary: "List one's folders, flat, with how many of their chats are unread",
        access,
        returns: z.array(FolderItem),
      },
      ({ caller }) => folders.list(caller),
    ),
    defineRoute(
      {
        method: "POST",
        path: "/folders/",
        summary: "Make a folder; names are unique beside each other, whatever their case",
        access,
        body: NewFolder,
        returns: Folder,
        fails: [400, 404, 409],
        idempotent: true,
      },
      ({ caller, body }) => folders.create(caller, body),
    ),
    defineRoute(
      {
        method: "GET",
        path: "/folders/:id",
        summary: "Read a folder; its prompt is shown to those who may change it",
        access,
        params: ById,
        returns: Folder,
        fails: [404],
      },
      ({ caller, params }) => folders.get(caller, params.id),
    ),
    ...stateRoutes(folders),
  ] as const;
}

function stateRoutes(folders: FolderActions) {
  return [
    defineRoute(
      {
        ...change,
        path: "/folders/:id/update",
        summary: "Change name, data and meta; keys that are left out stay, null takes one away",
        body: FolderChange,
        fails: [400, 403, 404, 409],
      },
      ({ caller, params, body }) => folders.update(caller, params.id, body),
    ),
    defineRoute(
      {
        ...change,
        path: "/folders/:id/update/expanded",
        summary: "Note whether the folder's list is open",
        body: z.object({ is_expanded: z.boolean() }),
        fails: [403, 404],
      },
      ({ caller, params, body }) => folders.expand(caller, params.id, body.is_expanded),
    ),
    defineRoute(
      {
        ...change,
        path: "/folders/:id/read",
        summary: "Mark every chat in the folder as read",
        fails: [403, 404],
      },
      ({ caller, params }) => folders.markRead(caller, params.id),
    ),
  ];
}

/** Where folders lie, and their end (contract 7.2). */
export function treeRoutes(tree: FolderTree) {
  return [
    defineRoute(
      {
        ...change,
        path: "/folders/:id/update/parent",
        summary: "Put a folder into another one, or to the root with null",
        body: ParentChange,
        fails: [400, 403, 404, 409],
      },
      ({ caller, params, body }) => tree.move(caller, params.id, body.parent_id),
    ),
    defineRoute(
      {
        method: "DELETE",
        path: "/folders/:id",
        summary: "Delete a folder and those inside it, with their chats (needs chat.delete) or without",
        access,
        params: ById,
        query: z.object({
          delete_contents: z
            .stringbool({ truthy: ["true", "1"], falsy: ["false", "0"] })
            .default(true)
            .meta({ type: "boolean", default: true }),
        }),
        returns: z.literal(true),
        fails: [403, 404],
      },
      async ({ caller, params, query }) => {
        await tree.remove(caller, params.id, query.delete_contents);
        return true;
      },
    ),
  ] as const;
}

/** Folders that others may read (contract 7.2). */
export function sharingRoutes(sharing: FolderSharing) {
  return [
    defineRoute(
      {
        method: "GET",
        path: "/folders/shared",
        summary: "List folders of others that are shared with the caller",
        access,
        returns: z.array(SharedFolder),
      },
      ({ caller }) => sharing.shared(caller),
    ),
    defineRoute(
      {
        method: "GET",
        path: "/folders/:id/shared/chats",
        summary: "List the chats in a shared folder; with a page 60 at a time",
        access,
        params: ById,
        query: z.object({ page: z.coerce.number().int().min(1).max(1_000_000).optional() }),
        returns: z.array(FolderChat),
        fails: [404],
      },
      ({ caller, params, query }) => sharing.sharedChats(caller, params.id, query.page),
    ),
    defineRoute(
      {
        ...change,
        path: "/folders/:id/access/update",
        summary:
          "Say who may read or change a folder (sharing.folders); what the caller may not give is left out",
        body: z.object({ access_grants: GrantInputs }).meta({ id: "FolderAccess" }),
        fails: [403, 404],
      },
      ({ caller, params, body }) => sharing.share(caller, params.id, body.access_grants),
    ),
  ] as const;
}
