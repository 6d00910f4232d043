import { z } from "zod";
import { defineRoute, reply } from "#kernel/http/route.ts";
import type { RunAction } from "../calls/actions.ts";

const ActionRequest = z
  .looseObject({
    model: z.string().min(1).max(1024),
    messages: z.array(z.looseObject({ role: z.string() })).default([]),
    chat_id: z.string().nullish(),
    session_id: z.string().nullish(),
    id: z.string().nullish(),
  })
  .meta({ id: "ChatActionRequest" });

/** `POST /api/chat/actions/{action_id}` (contract 3.5). */
export function actionRoutes(run: RunAction) {
  return [
    defineRoute(
      {
        method: "POST",
        path: "/api/chat/actions/:action_id",
        summary: "Run an action function on a conversation",
        access: "user",
        params: z.object({ action_id: z.string().min(1).max(512) }),
        body: ActionRequest,
        fails: [400, 404, 504],
      },
      async ({ caller, params, body, request }) => {
        const answer = await run(params.action_id, body, { principal: caller, signal: request.signal });
        // An action that gives nothing answers null, which is a body and not an absence of one.
        return reply(JSON.stringify(answer), { headers: { "content-type": "application/json" } });
      },
    ),
  ];
}
