import { server } from "#plugins/web/kit/server.ts";
import type { AskedCall, ChatMessage, OutputItem } from "./types.ts";

type Bag = Readonly<Record<string, unknown>>;

/** A person's answers by the id of each question, or that they skip them. */
export type AskedAnswer = { readonly answers: Readonly<Record<string, string>> } | { readonly skipped: true };

/** The questions of models that wait in a reply. */
export function askedCalls({ id, output }: Pick<ChatMessage, "id" | "output">): readonly AskedCall[] {
  return (output ?? []).flatMap((item) => {
    const { questions, expires_at: expiresAt } = toBag(item["question"]);
    const isOpen = item.type === "function_call" && item["status"] === "pending" && Array.isArray(questions);
    return isOpen
      ? [
          {
            messageId: id,
            callId: String(item["call_id"]),
            expiresAt: Number(expiresAt ?? 0),
            questions: questions.map(readQuestion),
          },
        ]
      : [];
  });
}

function readQuestion(value: unknown): AskedCall["questions"][number] {
  const { id, header, question, options, allow_other: allowsOther } = toBag(value);
  return {
    id: textOf(id),
    header: textOf(header),
    question: textOf(question),
    options: (Array.isArray(options) ? options : []).map((option) => {
      const { label, description } = toBag(option);
      return { label: textOf(label), description: textOf(description) };
    }),
    allowsOther: allowsOther !== false,
  };
}

/** What was answered to a call of `ask_user`; empty for another call, and where nobody answered. */
export function givenAnswers(
  call: OutputItem,
  answer: string,
): readonly { readonly question: string; readonly answer: string }[] {
  if (call["name"] !== "ask_user") {
    return [];
  }
  try {
    const { answers } = toBag(JSON.parse(answer));
    return (Array.isArray(answers) ? answers : []).map((one) => ({
      question: textOf(toBag(one)["question"]),
      answer: textOf(toBag(one)["answer"]),
    }));
  } catch {
    return [];
  }
}

interface AnsweringChat {
  readonly id: string | undefined;
  load(): Promise<void>;
  continueReply(messageId: string): Promise<void>;
}

/** Gives an answer to the model. A reply that was interrupted while it waited is continued with it. */
export async function answerAsked(
  chat: AnsweringChat,
  { messageId, callId }: AskedCall,
  answer: AskedAnswer,
): Promise<void> {
  const { goes_on: goesOn } = await server.call(
    "POST /api/v1/chats/:id/messages/:message_id/questions/:call_id",
    {
      params: { id: chat.id ?? "", message_id: messageId, call_id: callId },
      body: answer,
    },
  );
  if (!goesOn) {
    // The answer stands in the stored reply.
    await chat.load();
    await chat.continueReply(messageId);
  }
}

const toBag = (value: unknown): Bag => (typeof value === "object" && value !== null ? (value as Bag) : {});
const textOf = (value: unknown): string => (typeof value === "string" ? value : "");
