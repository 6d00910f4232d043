import { z } from "zod";
import type { Principal } from "#kernel/access/principal.ts";
import { defineRoute } from "#kernel/http/route.ts";
import type { Memories } from "./memories.ts";
import {
  ByChange,
  ById,
  Memory,
  MemoryChange,
  MemoryEdit,
  MemorySearch,
  NewMemory,
  Operations,
  PathBody,
  PathCount,
  PathQuery,
  VectorAnswer,
  VectorQuery,
} from "./schema.ts";

const access = "permission:features.memories";
const List = z.array(Memory);

/** Routes of the caller's memories (contract §8). */
export function memoryRoutes(memories: Memories) {
  return [
    ...readRoutes(memories),
    ...pathRoutes(memories),
    ...writeRoutes(memories),
    ...oneRoutes(memories),
    ...changeRoutes(memories),
  ] as const;
}

function readRoutes(memories: Memories) {
  return [
    defineRoute(
      {
        method: "GET",
        path: "/memories/",
        summary: "List one's memories, newest first",
        access,
        returns: List,
      },
      ({ caller }) => memories.list(caller),
    ),
    defineRoute(
      {
        method: "POST",
        path: "/memories/search",
        summary: "Search one's memories by meaning and words; the newest without a query",
        access,
        body: MemorySearch,
        returns: List,
        fails: [404],
      },
      ({ caller, body, request }) => memories.search(caller, body, request.signal),
    ),
    defineRoute(
      {
        method: "POST",
        path: "/memories/query",
        summary: "Find the memories that are nearest to a text",
        access,
        body: VectorQuery,
        returns: VectorAnswer,
      },
      async ({ caller, body, request }) => {
        const found = await memories.near(caller, body.content, body.k, request.signal);
        return {
          ids: [found.map(({ memory }) => memory.id)],
          documents: [found.map(({ memory }) => memory.content)],
          metadatas: [
            found.map(({ memory: { created_at, updated_at, type, path } }) => ({
              created_at,
              updated_at,
              type,
              path,
            })),
          ],
          distances: [found.map(({ score }) => score)],
        };
      },
    ),
  ] as const;
}

function pathRoutes(memories: Memories) {
  const read = (caller: Principal, { path, include_children: withChildren }: z.output<typeof PathBody>) =>
    memories.at(caller, { path, withChildren });
  return [
    defineRoute(
      {
        method: "GET",
        path: "/memories/paths",
        summary: "List the places of one's memories with how many each holds",
        access,
        returns: z.array(PathCount),
      },
      ({ caller }) => memories.paths(caller),
    ),
    defineRoute(
      {
        method: "GET",
        path: "/memories/path",
        summary: "List the memories of one place; those in no place without a path",
        access,
        query: PathQuery,
        returns: List,
      },
      ({ caller, query }) => read(caller, query),
    ),
    defineRoute(
      {
        method: "POST",
        path: "/memories/path",
        summary: "List the memories of one place",
        access,
        body: PathBody,
        returns: List,
      },
      ({ caller, body }) => read(caller, body),
    ),
  ] as const;
}

function writeRoutes(memories: Memories) {
  return [
    defineRoute(
      {
        method: "POST",
        path: "/memories/add",
        summary: "Add a memory",
        access,
        body: NewMemory,
        returns: Memory,
        fails: [400],
      },
      async ({ caller, body }) => {
        const [added] = await memories.apply(caller, [{ ...body, action: "add" }]);
        return (added as NonNullable<typeof added>).memory;
      },
    ),
    defineRoute(
      {
        method: "POST",
        path: "/memories/update",
        summary: "Carry out several changes, all or none; the answer has each memory as it is or was last",
        access,
        body: Operations,
        returns: List,
        fails: [400, 404],
      },
      async ({ caller, body }) => (await memories.apply(caller, body.operations)).map(({ memory }) => memory),
    ),
    defineRoute(
      {
        method: "POST",
        path: "/memories/reset",
        summary: "Write the search index of one's memories anew",
        access,
        returns: z.literal(true),
      },
      async ({ caller }) => {
        await memories.reindex(caller);
        return true;
      },
    ),
    defineRoute(
      {
        method: "DELETE",
        path: "/memories/delete/user",
        summary: "Forget everything; this cannot be undone",
        access,
        returns: z.literal(true),
      },
      async ({ caller }) => {
        await memories.clear(caller);
        return true;
      },
    ),
  ] as const;
}

function oneRoutes(memories: Memories) {
  return [
    defineRoute(
      {
        method: "POST",
        path: "/memories/:id/update",
        summary: "Change a memory",
        access,
        params: ById,
        body: MemoryEdit,
        returns: Memory,
        fails: [404],
      },
      async ({ caller, params: { id }, body: { content, type, path } }) => {
        const isMoved = type !== undefined || path !== undefined;
        await memories.apply(caller, [
          { action: "replace", id, content },
          ...(isMoved ? [{ action: "move", id, type, path: path ?? "" } as const] : []),
        ]);
        return await memories.read(caller, id);
      },
    ),
    defineRoute(
      {
        method: "DELETE",
        path: "/memories/:id",
        summary: "Forget a memory",
        access,
        params: ById,
        returns: z.literal(true),
        fails: [404],
      },
      async ({ caller, params }) => {
        await memories.apply(caller, [{ action: "remove", id: params.id }]);
        return true;
      },
    ),
  ] as const;
}

function changeRoutes(memories: Memories) {
  return [
    defineRoute(
      {
        method: "POST",
        path: "/memories/:id/keep",
        summary: "Let a memory hold that was learned from content of others",
        access,
        params: ById,
        returns: Memory,
        fails: [404],
      },
      ({ caller, params }) => memories.keep(caller, params.id),
    ),
    defineRoute(
      {
        method: "GET",
        path: "/memories/changes",
        summary: "List the last 200 changes of one's memories, newest first",
        access,
        returns: z.array(MemoryChange),
      },
      ({ caller }) => memories.changes(caller),
    ),
    defineRoute(
      {
        method: "POST",
        path: "/memories/changes/:change_id/undo",
        summary: "Take a change back",
        access,
        params: ByChange,
        returns: MemoryChange,
        fails: [404, 409],
      },
      ({ caller, params }) => memories.undo(caller, params.change_id),
    ),
  ] as const;
}
