import { z } from "zod";
import type { Principal } from "#kernel/access/principal.ts";
import { AppError } from "#kernel/errors.ts";
import type { Hub } from "#kernel/sockets/hub.ts";
import type { Chats } from "#plugins/chats/service.ts";
import { presence } from "./approver.ts";
import type { Answer, CallPlace, Questions } from "./questions.ts";
import type { StoredDecisions } from "./stored-decisions.ts";

export interface AnswersParts {
  readonly chats: Pick<Chats, "require" | "places">;
  readonly hub: Hub;
  readonly questions: Questions;
  readonly decisions: StoredDecisions;
}

export type Answers = ReturnType<typeof createAnswers>;

const topic = "approvals.answer";

const DecisionMessage = z.object({
  place: z.object({ userId: z.string(), chatId: z.string(), messageId: z.string(), callId: z.string() }),
  answer: z.object({ decision: z.enum(["allow", "deny"]), always: z.boolean() }),
});
const DecidedToolMessage = z.object({
  toolId: z.string(),
  name: z.string(),
  title: z.string().nullable(),
  server: z.string().nullable(),
  description: z.string(),
  fingerprint: z.string(),
});

/** Takes answers to questions of runs on whichever replica (contract D.22). */
export function createAnswers({ chats, hub, questions, decisions }: AnswersParts) {
  hub.contribute(topic, (payload) => {
    const decision = DecisionMessage.safeParse(payload).data;
    return decision === undefined ? null : (questions.answer(decision.place, decision.answer) ?? null);
  });
  hub.contribute(presence, (payload) => {
    const { user_id: userId } = (payload ?? {}) as { user_id?: unknown };
    return typeof userId === "string" && hub.isHere(userId) ? true : null;
  });
  return {
    /**
     * Throws `not_found` for chats and messages that are not the caller's to write, `conflict` when the call does not
     * wait for an answer (any more).
     */
    async answer(
      caller: Principal,
      { chatId, messageId, callId }: Omit<CallPlace, "userId">,
      answer: Answer,
    ): Promise<void> {
      if (!chatId.startsWith("temporary:")) {
        await chats.require(caller, chatId);
        if (!(await chats.places(chatId, [messageId])).has(messageId)) {
          throw new AppError("not_found", "Message not found");
        }
      }
      const place = { userId: caller.userId, chatId, messageId, callId };
      const tool = DecidedToolMessage.safeParse(await hub.find(topic, { place, answer })).data;
      if (tool === undefined) {
        throw new AppError("conflict", "This call does not wait for an approval.");
      }
      if (answer.always) {
        await decisions.store(caller.userId, tool, answer.decision);
      }
    },
  };
}
