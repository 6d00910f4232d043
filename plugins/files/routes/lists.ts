import { z } from "zod";
import { defineRoute } from "#kernel/http/route.ts";
import type { Listing } from "../listing.ts";
import type { Storage } from "../quota.ts";
import { File, FilePage, FileStorage, toggle } from "../schema.ts";

const pageSize = 50;

/** Lists of files. */
export function listRoutes(listing: Listing, storageOf: (userId: string) => Promise<Storage>) {
  return [
    defineRoute(
      {
        method: "GET",
        path: "/files/",
        summary: "List one's files, newest first; admins see everybody's",
        access: "user",
        query: z.object({
          page: z.coerce.number().int().min(1).max(1_000_000).default(1),
          content: toggle(true),
          filename: z
            .string()
            .max(500)
            .optional()
            .meta({ description: "Only files whose name fits, with * and ?" }),
          mine: toggle(false).meta({ description: "Only one's own files, for admins as well" }),
        }),
        returns: FilePage,
      },
      ({ query, caller }) =>
        listing.list(caller, {
          offset: (query.page - 1) * pageSize,
          limit: pageSize,
          content: query.content,
          mine: query.mine,
          ...(query.filename ? { filename: query.filename } : {}),
        }),
    ),
    defineRoute(
      {
        method: "GET",
        path: "/files/search",
        summary: "Find files by a name with * and ?",
        access: "user",
        query: z.object({
          filename: z.string().min(1).max(500),
          content: toggle(true),
          skip: z.coerce.number().int().min(0).max(1_000_000_000).default(0),
          limit: z.coerce.number().int().min(1).max(1000).default(100),
        }),
        returns: z.array(File),
        fails: [404],
      },
      ({ query, caller }) =>
        listing.search(caller, query.filename, {
          offset: query.skip,
          limit: query.limit,
          content: query.content,
        }),
    ),
    defineRoute(
      {
        method: "GET",
        path: "/files/count",
        summary: "Count the files that the list holds",
        access: "user",
        returns: z.object({ count: z.number() }),
      },
      async ({ caller }) => ({ count: await listing.count(caller) }),
    ),
    defineRoute(
      {
        method: "GET",
        path: "/files/storage",
        summary: "Read how many bytes one's files take, and how many they may take",
        access: "user",
        returns: FileStorage,
      },
      ({ caller }) => storageOf(caller.userId),
    ),
  ];
}
