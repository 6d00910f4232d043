import { z } from "zod";
import type { Principal } from "#kernel/access/principal.ts";
import { AppError } from "#kernel/errors.ts";
import type { Hub } from "#kernel/sockets/hub.ts";
import type { Chats } from "#plugins/chats/service.ts";
import { presence } from "./approver.ts";
import type { Answer, CallPlace, Questions } from "./questions.ts";
import type { Remembered } from "./remembered.ts";

export interface AnsweringParts {
  readonly chats: Pick<Chats, "require" | "places">;
  readonly hub: Hub;
  readonly questions: Questions;
  readonly remembered: Remembered;
}

export type Answering = ReturnType<typeof createAnswering>;

const topic = "approvals.answer";

const Decided = z.object({
  place: z.object({ userId: z.string(), chatId: z.string(), messageId: z.string(), callId: z.string() }),
  answer: z.object({ decision: z.enum(["allow", "deny"]), always: z.boolean() }),
});
const Judged = z.object({ toolId: z.string(), name: z.string(), fingerprint: z.string() });

/** Takes answers to questions of runs on whichever replica (contract D.22). */
export function createAnswering({ chats, hub, questions, remembered }: AnsweringParts) {
  hub.contribute(topic, (asked) => {
    const decided = Decided.safeParse(asked).data;
    return decided === undefined ? null : (questions.answer(decided.place, decided.answer) ?? null);
  });
  hub.contribute(presence, (asked) => {
    const { user_id: userId } = (asked ?? {}) as { user_id?: unknown };
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
      const tool = Judged.safeParse(await hub.find(topic, { place, answer })).data;
      if (tool === undefined) {
        throw new AppError("conflict", "This call does not wait for an approval.");
      }
      if (answer.always) {
        await remembered.keep(caller.userId, tool, answer.decision);
      }
    },
  };
}
