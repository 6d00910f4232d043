import { z } from "zod";
import { defineRoute, reply } from "#kernel/http/route.ts";
import { answerChat } from "../reading/answers.ts";
import type { Branches } from "../reading/branches.ts";
import type { MessageActions } from "../tree/messages.ts";
import type { ChatParts } from "../parts.ts";
import { ById, ByMessage, ChatAnswer, MessagePage } from "../schema.ts";

interface Parts {
  readonly parts: ChatParts;
  readonly messages: MessageActions;
  readonly branches: Branches;
}

/** Single messages, and long chats a page at a time. */
export function messageRoutes({ parts, messages, branches }: Parts) {
  return [
    defineRoute(
      {
        method: "GET",
        path: "/chats/:id/messages",
        summary: "Read the shown branch from its end, a page at a time; a page may be shorter than its limit",
        access: "user",
        params: ById,
        query: z.object({
          before: z.string().min(1).max(200).optional(),
          leaf: z.string().min(1).max(200).optional(),
          limit: z.coerce.number().int().min(1).max(200).default(50),
        }),
        returns: MessagePage,
        fails: [404],
      },
      async ({ caller, params, query }) =>
        reply(await branches.page(caller, params.id, query), {
          headers: { "content-type": "application/json; charset=utf-8" },
        }),
    ),
    defineRoute(
      {
        method: "POST",
        path: "/chats/:id/messages/:message_id",
        summary: "Replace what a message says; with `expected`, only where it says that still",
        access: "user",
        params: ByMessage,
        body: z.object({
          content: z.union([z.string(), z.array(z.looseObject({}))]),
          /** What the message said when it was read, as text. */
          expected: z.string().optional(),
        }),
        returns: ChatAnswer,
        fails: [403, 404, 409],
      },
      async ({ caller, params, body, request }) =>
        answerChat(parts.db, await messages.setContent(caller, params, body), request),
    ),
    defineRoute(
      {
        method: "DELETE",
        path: "/chats/:id/messages/:message_id",
        summary: "Delete a message; what follows it follows the one before it",
        access: "permission:chat.delete_message",
        params: ByMessage,
        returns: ChatAnswer,
        fails: [403, 404, 409],
      },
      async ({ caller, params, request }) =>
        answerChat(parts.db, await messages.remove(caller, params), request),
    ),
  ];
}
