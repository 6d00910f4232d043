import { z } from "zod";
import { defineRoute } from "#kernel/http/route.ts";
import type { AnswerRows } from "../answers.ts";
import type { FeedbackActions } from "../feedback.ts";
import { Feedback, FeedbackChange, FeedbackFacts, FeedbackId, NewFeedback } from "../schema.ts";

/** A chat that comes along with a rating is as large as this at most. */
const maxBody = 4 * 1024 * 1024;

/** What people think of replies (contract §10). */
export function ownRoutes(feedback: FeedbackActions, answerRows: AnswerRows) {
  return [
    defineRoute(
      {
        method: "POST",
        path: "/evaluations/feedback",
        summary: "Rate a reply; rating it again replaces the rating",
        access: "permission:chat.rate_response",
        body: NewFeedback,
        returns: Feedback,
        fails: [403, 404, 413],
        maxBody,
      },
      ({ caller, body }) => feedback.create(caller, body),
    ),
    defineRoute(
      {
        method: "GET",
        path: "/evaluations/feedback/:id",
        summary: "Read feedback; administrators read everybody's",
        access: "user",
        params: FeedbackId,
        returns: Feedback,
        fails: [404],
      },
      ({ caller, params }) => feedback.read(caller, params.id),
    ),
    defineRoute(
      {
        method: "POST",
        path: "/evaluations/feedback/:id",
        summary: "Replace parts of feedback",
        access: "user",
        params: FeedbackId,
        body: FeedbackChange,
        returns: Feedback,
        fails: [403, 404, 409, 413],
        maxBody,
      },
      ({ caller, params, body }) => feedback.change(caller, params.id, body),
    ),
    ...removalRoutes(feedback),
    defineRoute(
      {
        method: "GET",
        path: "/evaluations/feedbacks/user",
        summary: "List one's own feedback, oldest first",
        access: "user",
        returns: z.array(FeedbackFacts),
      },
      ({ caller }) => answerRows({ userId: caller.userId, columns: "facts" }),
    ),
  ];
}

function removalRoutes(feedback: FeedbackActions) {
  return [
    defineRoute(
      {
        method: "DELETE",
        path: "/evaluations/feedback/:id",
        summary: "Delete feedback",
        access: "user",
        params: FeedbackId,
        returns: z.literal(true),
        fails: [404],
      },
      async ({ caller, params }) => {
        await feedback.remove(caller, params.id);
        return true;
      },
    ),
    defineRoute(
      {
        method: "DELETE",
        path: "/evaluations/feedbacks",
        summary: "Delete all of one's feedback",
        access: "user",
        returns: z.literal(true),
      },
      async ({ caller }) => {
        await feedback.removeAll(caller, { userId: caller.userId });
        return true;
      },
    ),
  ];
}
