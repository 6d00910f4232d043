import { z } from "zod";
import { defineRoute } from "#kernel/http/route.ts";
import type { Answers } from "./answers.ts";
import { Answer } from "./questions.ts";

const Id = z.string().min(1).max(200);

/** Answers to questions that models ask in a reply (contract §3.6, ask_user). */
export function questionRoutes(answers: Answers) {
  return [
    defineRoute(
      {
        method: "POST",
        path: "/chats/:id/messages/:message_id/questions/:call_id",
        summary:
          "Answer what a model asks in a reply. `goes_on` is false for a reply that was interrupted: continue it (`assistant_message_id`)",
        access: "user",
        params: z.object({ id: Id, message_id: Id, call_id: Id }),
        body: Answer.meta({ id: "QuestionAnswer" }),
        returns: z.object({ goes_on: z.boolean() }),
        fails: [404, 409, 422],
      },
      async ({ caller, params: { id: chatId, message_id: messageId, call_id: callId }, body }) => ({
        goes_on: await answers.answer(caller, { chatId, messageId, callId }, body),
      }),
    ),
  ] as const;
}
