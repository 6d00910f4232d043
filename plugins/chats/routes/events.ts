import { z } from "zod";
import { defineRoute } from "#kernel/http/route.ts";
import type { MessageEvents } from "../replies/events.ts";
import { maxEventBytes } from "../replies/message-events.ts";
import { ByMessage } from "../schema.ts";

/** Events of contract §3.4 from programs that drive chats. */
export function eventRoutes(messageEvents: MessageEvents) {
  return [
    defineRoute(
      {
        method: "POST",
        path: "/chats/:id/messages/:message_id/event",
        summary: "Send an event about a message to its owner's clients and store what it leaves behind",
        access: "user",
        params: ByMessage,
        body: z.object({ type: z.string().min(1).max(100), data: z.unknown().optional() }),
        returns: z.boolean(),
        fails: [400, 404, 413],
        maxBody: maxEventBytes + 1024,
      },
      ({ caller, params, body }) => messageEvents.send(caller, params, body),
    ),
  ];
}
