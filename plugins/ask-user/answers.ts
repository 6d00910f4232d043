import { randomBytes } from "node:crypto";
import { z } from "zod";
import type { Principal } from "#kernel/access/principal.ts";
import { AppError } from "#kernel/errors.ts";
import type { Hub } from "#kernel/sockets/hub.ts";
import type { Chats, Replies } from "#plugins/chats/service.ts";
import type { CallPlace, OpenQuestions } from "./open-questions.ts";
import { Answer, findProblem, readShown, toResult } from "./questions.ts";

export interface AnswersParts {
  readonly chats: Pick<Chats, "require" | "places" | "branch">;
  readonly replies: Pick<Replies, "waitingQuestion" | "answerWaiting">;
  readonly hub: Pick<Hub, "contribute" | "find">;
  readonly open: OpenQuestions;
}

export type Answers = ReturnType<typeof createAnswers>;

const topic = "ask-user.answer";
const Message = z.object({
  place: z.object({ userId: z.string(), chatId: z.string(), messageId: z.string(), callId: z.string() }),
  answer: Answer,
});
const Taken = z.union([z.object({ taken: z.literal(true) }), z.object({ problem: z.string() })]);

/** Takes answers to questions of runs on whichever replica, and to those whose run is gone. */
export function createAnswers({ chats, replies, hub, open }: AnswersParts) {
  hub.contribute(topic, (payload) => {
    const message = Message.safeParse(payload).data;
    return message === undefined ? null : (open.answer(message.place, message.answer) ?? null);
  });
  return {
    /**
     * Resolves to true when the reply goes on by itself, to false when its run was interrupted: the answer stands in the
     * reply then, which goes on where it is continued. Throws `not_found` for chats and messages that are not the
     * caller's, `unprocessable` for an answer that does not fit, `conflict` when the call does not ask (any more).
     */
    async answer(
      caller: Principal,
      { chatId, messageId, callId }: Omit<CallPlace, "userId">,
      answer: Answer,
    ): Promise<boolean> {
      const isStored = !chatId.startsWith("temporary:");
      if (isStored) {
        await chats.require(caller, chatId);
        if (!(await chats.places(chatId, [messageId])).has(messageId)) {
          throw new AppError("not_found", "Message not found");
        }
      }
      const place = { userId: caller.userId, chatId, messageId, callId };
      const found = Taken.safeParse(await hub.find(topic, { place, answer })).data;
      if (found !== undefined) {
        refuse("problem" in found ? found.problem : undefined);
        return true;
      }
      if (isStored && (await store(replies, place, answer))) {
        return false;
      }
      const isLeft = isStored && (await isBeingWritten(chats, chatId, messageId));
      throw new AppError("conflict", isLeft ? leftText : "This call does not wait for an answer.");
    },
  };
}

const leftText =
  "The server that asked this has stopped, and the reply is not marked as interrupted yet. Answer again in a few seconds.";

/** True where a reply without its run counts as being written still: until its lease is stale, nobody takes the answer. */
async function isBeingWritten(
  chats: AnswersParts["chats"],
  chatId: string,
  messageId: string,
): Promise<boolean> {
  const message = (await chats.branch(chatId, messageId, { limit: 1 })).at(-1);
  return message?.["done"] === false;
}

/** Stores the answer in the reply of a run that is gone; false when no question stands there. */
async function store(replies: AnswersParts["replies"], place: CallPlace, answer: Answer): Promise<boolean> {
  const shown = readShown(await replies.waitingQuestion(place));
  if (shown === undefined) {
    return false;
  }
  refuse(findProblem(shown.questions, answer));
  return await replies.answerWaiting(place, {
    type: "function_call_output",
    id: `fco_${randomBytes(9).toString("base64url")}`,
    status: "completed",
    call_id: place.callId,
    output: [{ type: "input_text", text: JSON.stringify(toResult(shown.questions, answer)) }],
  });
}

function refuse(problem: string | undefined): void {
  if (problem !== undefined) {
    throw new AppError("unprocessable", problem);
  }
}
