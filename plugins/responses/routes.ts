import { z } from "zod";
import { toErrorFrame } from "#kernel/http/errors.ts";
import { defineRoute, relay, type RequestInfo, stream } from "#kernel/http/route.ts";
import type { Principal } from "#kernel/access/principal.ts";
import type { Responses } from "./responses.ts";
import { ResponsesRequest } from "./schema.ts";

/** The Responses format for every model that chats (Core API, local model runtime pass-through). */
export function responsesRoutes(responses: Responses) {
  const declared = {
    method: "POST",
    access: "user",
    summary: "Answer a request of the Responses format",
    body: ResponsesRequest,
    errors: "compat",
    fails: [400, 404, 429, 502, 504],
  } as const;
  const answer = (body: ResponsesRequest, from: { caller: Principal; request: RequestInfo }) =>
    toAnswer(responses, body, from);
  return [
    defineRoute({ ...declared, path: "/v1/responses" }, ({ body, ...from }) => answer(body, from)),
    // Which backend runs the model follows from the model; clients that name one are answered all the same.
    defineRoute(
      { ...declared, path: "/v1/responses/:idx", params: z.object({ idx: z.coerce.number().int().min(0) }) },
      ({ body, ...from }) => answer(body, from),
    ),
  ] as const;
}

async function toAnswer(
  responses: Responses,
  body: ResponsesRequest,
  { caller, request }: { caller: Principal; request: RequestInfo },
) {
  const answer = await responses.run(body, {
    caller,
    signal: request.signal,
    userAgent: request.headers["user-agent"],
    requestId: request.id,
  });
  switch (answer.kind) {
    case "whole":
      return answer.response;
    case "events":
      return stream(answer.frames);
    case "forwarded": {
      const isStream = String(answer.upstream.headers["content-type"] ?? "").includes("event-stream");
      // The line that was cut off must not swallow the frame.
      const brokenFrame = (error: Error) => `\n\ndata: ${toErrorFrame(error, request.id)}\n\n`;
      return relay(answer.upstream, isStream ? { brokenFrame } : {});
    }
  }
}
