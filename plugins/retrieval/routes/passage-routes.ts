import { z } from "zod";
import { defineRoute } from "#kernel/http/route.ts";
import type { Files } from "#plugins/files/service.ts";
import { FilePassages } from "../schema.ts";
import type { Retrieval } from "../service.ts";
import { below, type Prefix } from "./prefix.ts";

export interface PassageRouteParts {
  readonly files: Pick<Files, "authorize">;
  readonly service: Pick<Retrieval, "passages" | "progress">;
}

/** Passages of one page. */
const pageSize = 50;

/** The passages that a file was cut into, for people who want to see why it is found or not. */
export function passageRoutes(prefix: Prefix, { files, service }: PassageRouteParts) {
  return [
    defineRoute(
      {
        method: "GET",
        path: below(prefix, "/files/:id/passages"),
        summary: "List the passages of a file in their order, with how far its vectors are",
        access: "user",
        params: z.object({ id: z.string().min(1).max(200) }),
        query: z.object({ page: z.coerce.number().int().min(1).max(1_000_000).default(1) }),
        returns: FilePassages,
        fails: [404],
      },
      async ({ caller, params, query }) => {
        await files.authorize(caller, params.id, "read");
        const [items, progress] = await Promise.all([
          service.passages(params.id, { offset: (query.page - 1) * pageSize, limit: pageSize }),
          service.progress([params.id]),
        ]);
        const state = progress.get(params.id);
        return {
          items,
          total: state?.passages ?? 0,
          embedded: state?.embedded ?? 0,
          status: state?.status ?? "none",
          error: state?.error ?? null,
        };
      },
    ),
  ] as const;
}
