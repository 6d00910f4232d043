import { z } from "zod";
import { AppError } from "#kernel/errors.ts";
import { defineRoute } from "#kernel/http/route.ts";
import type { Jobs } from "#kernel/jobs.ts";
import { announce } from "../parts.ts";
import type { KnowledgeLogic } from "../logic.ts";

/** Queued by administrators: see `reindexJob`. */
export interface ReindexOrder {
  /** Cuts and embeds files anew; false to tell the index only which file lies in which collection. */
  readonly contents: boolean;
}

export const reindexJob = "knowledge.reindex";

/** What administrators do with all collections (contract 6.2). */
export function administrationRoutes({ parts }: KnowledgeLogic, jobs: Jobs) {
  const order = async (contents: boolean) => {
    await jobs.enqueue(reindexJob, { contents } satisfies ReindexOrder);
    return { status: true as const };
  };
  const facts = {
    method: "POST",
    access: "admin",
    returns: z.object({ status: z.literal(true) }),
  } as const;
  const External = z.object({ rest: z.string() });
  const refuse = () => {
    throw new AppError(
      "not_found",
      "This server reads knowledge from files alone. Keep a folder in step with KNOWLEDGE_WATCH, or with the sync routes of a collection.",
    );
  };
  return [
    defineRoute(
      {
        ...facts,
        path: "/knowledge/reindex",
        summary: "Cut and embed the files of all collections anew, in the background",
      },
      async ({ caller }) => {
        announce(parts, "knowledge.reindexed", { by: caller, id: "all" });
        return await order(true);
      },
    ),
    defineRoute(
      {
        ...facts,
        path: "/knowledge/metadata/reindex",
        summary: "Tell the index anew which files lie in which collections, in the background",
      },
      () => order(false),
    ),
    defineRoute(
      {
        method: "GET",
        path: "/knowledge/external/**:rest",
        summary: "Refused: this server has no external sources of knowledge",
        access: "admin",
        params: External,
        fails: [404],
      },
      refuse,
    ),
    defineRoute(
      {
        method: "POST",
        path: "/knowledge/external/**:rest",
        summary: "Refused: this server has no external sources of knowledge",
        access: "admin",
        params: External,
        fails: [404],
      },
      refuse,
    ),
  ];
}
