import { z } from "zod";
import { AppError } from "#kernel/errors.ts";
import { defineRoute } from "#kernel/http/route.ts";
import type { AnswerRows } from "../answers.ts";
import type { FeedbackActions } from "../feedback.ts";
import type { LeaderboardOf } from "../leaderboard.ts";
import { Feedback, FeedbackPage, Leaderboard, ListQuery, ModelHistory } from "../schema.ts";

interface Parts {
  readonly answerRows: AnswerRows;
  readonly feedback: FeedbackActions;
  readonly leaderboard: LeaderboardOf;
  /** ENABLE_ADMIN_EXPORT. */
  mayExport(): boolean;
}

/** Everybody's feedback, and what it says about models (contract §10). */
export function adminRoutes(parts: Parts) {
  return [...listRoutes(parts), ...exportRoutes(parts), ...boardRoutes(parts)];
}

function listRoutes({ feedback }: Parts) {
  return [
    defineRoute(
      {
        method: "GET",
        path: "/evaluations/feedbacks/list",
        summary: "List everybody's feedback a page at a time, without the chats around it",
        access: "admin",
        query: ListQuery,
        returns: FeedbackPage,
      },
      ({ query }) => feedback.list(query),
    ),
    defineRoute(
      {
        method: "GET",
        path: "/evaluations/feedbacks/models",
        summary: "List the ids of models that were rated",
        access: "admin",
        returns: z.array(z.string()),
      },
      () => feedback.modelIds(),
    ),
    defineRoute(
      {
        method: "DELETE",
        path: "/evaluations/feedbacks/all",
        summary: "Delete everybody's feedback",
        access: "admin",
        returns: z.literal(true),
      },
      async ({ caller }) => {
        await feedback.removeAll(caller, {});
        return true;
      },
    ),
  ];
}

const Place = z.object({
  id: z.string(),
  user_id: z.string(),
  created_at: z.number(),
  updated_at: z.number(),
});

function exportRoutes({ answerRows, mayExport }: Parts) {
  return [
    defineRoute(
      {
        method: "GET",
        path: "/evaluations/feedbacks/all/ids",
        summary: "List the ids of everybody's feedback",
        access: "admin",
        returns: z.array(Place),
      },
      () => answerRows({ columns: "ids" }),
    ),
    defineRoute(
      {
        method: "GET",
        path: "/evaluations/feedbacks/all/export",
        summary: "Export everybody's feedback with the chats around it (ENABLE_ADMIN_EXPORT)",
        access: "admin",
        query: z.object({ model_id: z.string().max(256).optional() }),
        returns: z.array(Feedback),
        fails: [403],
      },
      ({ query }) => {
        if (!mayExport()) {
          throw new AppError("forbidden", "Exports are switched off.");
        }
        return answerRows({ columns: "all", modelId: query.model_id });
      },
    ),
  ];
}

function boardRoutes({ leaderboard }: Parts) {
  return [
    defineRoute(
      {
        method: "GET",
        path: "/evaluations/leaderboard",
        summary: "Compare models by what people preferred; a query narrows it down by tags",
        access: "admin",
        query: z.object({ query: z.string().max(500).default("") }),
        returns: Leaderboard,
      },
      async ({ query }) => ({ entries: await leaderboard.entries(query.query) }),
    ),
    defineRoute(
      {
        method: "GET",
        path: "/evaluations/leaderboard/:model_id/history",
        summary: "Count a model's good and bad ratings by day; 0 days are all there are",
        access: "admin",
        params: z.object({ model_id: z.string().min(1).max(256) }),
        query: z.object({ days: z.coerce.number().int().min(0).max(3650).default(30) }),
        returns: ModelHistory,
      },
      async ({ params, query }) => ({
        model_id: params.model_id,
        history: await leaderboard.history(params.model_id, query.days),
      }),
    ),
  ];
}
