import { toErrorFrame } from "#kernel/http/errors.ts";
import { defineRoute, relay, type RequestInfo, stream } from "#kernel/http/route.ts";
import type { Principal } from "#kernel/access/principal.ts";
import type { Responses } from "./responses.ts";
import { ResponsesRequest } from "./schema.ts";

/** The Responses format for every model that chats (Core API, local model runtime pass-through). */
export function responsesRoutes(responses: Responses) {
  return [
    defineRoute(
      {
        method: "POST",
        path: "/v1/responses",
        summary: "Answer a request of the Responses format",
        access: "user",
        body: ResponsesRequest,
        errors: "compat",
        fails: [400, 404, 429, 502, 504],
      },
      ({ body, ...from }) => toAnswer(responses, body, from),
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
