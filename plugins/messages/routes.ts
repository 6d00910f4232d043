import { defineRoute } from "#kernel/http/route.ts";
import type { Messages } from "./messages.ts";
import { MessageRequest, TokenCount } from "./schema.ts";

/** The vendor-style message API, under both of its addresses (Core API, vendor-style message API). */
export function messageRoutes(messages: Messages) {
  const create = defineRoute(
    {
      method: "POST",
      path: "/api/message",
      summary: "Answer a request of the vendor message format",
      access: "user",
      body: MessageRequest,
      errors: "message",
      idempotent: true,
      fails: [400, 404, 429, 502, 504],
    },
    ({ body, bodyText, caller, request }) => messages.create({ body, text: bodyText ?? "", caller, request }),
  );
  const count = defineRoute(
    {
      method: "POST",
      path: "/api/message/count_tokens",
      summary: "Count the tokens of a request of the vendor message format",
      access: "user",
      body: MessageRequest,
      returns: TokenCount,
      errors: "message",
      fails: [400, 404, 429, 502, 504],
    },
    ({ body, bodyText, caller, request }) => messages.count({ body, text: bodyText ?? "", caller, request }),
  );
  return {
    main: [create, count],
    api: [
      { ...create, path: "/messages" as const },
      { ...count, path: "/messages/count_tokens" as const },
    ],
  };
}
