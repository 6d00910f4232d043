import { z } from "zod";
import { defineRoute } from "#kernel/http/route.ts";
import type { Listing } from "../listing.ts";
import { File, FilePage, toggle } from "../schema.ts";

const pageSize = 50;

/** Lists of files. */
export function listRoutes(listing: Listing) {
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
        }),
        returns: FilePage,
      },
      ({ query, caller }) =>
        listing.list(caller, {
          offset: (query.page - 1) * pageSize,
          limit: pageSize,
          content: query.content,
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
  ];
}
