import { z } from "zod";
import { defineRoute } from "#kernel/http/route.ts";
import type { Golden } from "./golden.ts";
import { explain, type LabParts } from "./lab.ts";
import {
  GoldenQuestion,
  GoldenRun,
  LabAnswer,
  LabQuestion,
  NewQuestion,
  NewRun,
  QuestionId,
} from "./schema.ts";

/** The permission of those who keep collections, and of the page. */
export const keeper = "permission:workspace.knowledge";

/** The retrieval lab: searches that say how they came to their passages, and questions whose answers are known. */
export function labRoutes(lab: LabParts, golden: Golden) {
  return [
    defineRoute(
      {
        method: "POST",
        path: "/retrieval/lab/search",
        summary: "Search with every step shown, and the prompt that a model would get",
        access: keeper,
        body: LabQuestion,
        returns: LabAnswer,
        fails: [400, 404],
      },
      ({ caller, body, request: { signal } }) => explain(lab, { caller, question: body, signal }),
    ),
    defineRoute(
      {
        method: "GET",
        path: "/retrieval/lab/runs",
        summary: "List the runs of one's own golden questions, newest first, each with what changed",
        access: keeper,
        returns: z.array(GoldenRun),
      },
      ({ caller }) => golden.runs(caller),
    ),
    defineRoute(
      {
        method: "POST",
        path: "/retrieval/lab/runs",
        summary: "Ask all golden questions and see which are answered",
        access: keeper,
        body: NewRun,
        returns: GoldenRun,
        fails: [400],
      },
      ({ caller, body, request: { signal } }) => golden.run(caller, body, signal),
    ),
    ...questionRoutes(golden),
  ] as const;
}

function questionRoutes(golden: Golden) {
  return [
    defineRoute(
      {
        method: "GET",
        path: "/retrieval/lab/questions",
        summary: "List one's own golden questions, oldest first",
        access: keeper,
        returns: z.array(GoldenQuestion),
      },
      ({ caller }) => golden.list(caller),
    ),
    defineRoute(
      {
        method: "POST",
        path: "/retrieval/lab/questions",
        summary: "Keep a question with the passages that answer it",
        access: keeper,
        body: NewQuestion,
        returns: GoldenQuestion,
        fails: [400, 404],
      },
      ({ caller, body }) => golden.add(caller, body),
    ),
    defineRoute(
      {
        method: "POST",
        path: "/retrieval/lab/questions/:id",
        summary: "Replace a golden question",
        access: "user",
        params: QuestionId,
        body: NewQuestion,
        returns: GoldenQuestion,
        fails: [400, 403, 404],
      },
      ({ caller, params: { id }, body }) => golden.change(caller, id, body),
    ),
    defineRoute(
      {
        method: "DELETE",
        path: "/retrieval/lab/questions/:id",
        summary: "Delete a golden question",
        access: "user",
        params: QuestionId,
        returns: z.boolean(),
        fails: [403, 404],
      },
      ({ caller, params: { id } }) => golden.remove(caller, id),
    ),
  ] as const;
}
