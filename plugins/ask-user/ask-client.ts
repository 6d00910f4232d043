import { toEnvelope } from "#kernel/sockets/envelope.ts";
import type { Hub } from "#kernel/sockets/hub.ts";
import type { CallPlace } from "./open-questions.ts";
import { Answer, findProblem, type Question, type ShownQuestions } from "./questions.ts";

export interface AskedClient extends CallPlace {
  readonly sessionId: string;
  readonly shown: ShownQuestions;
}

/**
 * Asks the client that a run belongs to, by the event `input`: clients that do not know questions with options answer a
 * single one with a text. Resolves to undefined when the answer is missing or does not fit: others may still answer.
 */
export async function askClient(
  hub: Pick<Hub, "ask">,
  { userId, chatId, messageId, callId, sessionId, shown }: AskedClient,
  options: { signal: AbortSignal; timeoutMs: number },
): Promise<Answer | undefined> {
  const [first] = shown.questions;
  const data = {
    title: shown.questions.length === 1 ? first?.header || first?.question : "Questions",
    message: shown.questions.map(toText).join("\n\n"),
    placeholder: first?.options[0]?.label ?? "",
    call_id: callId,
    ...shown,
  };
  const payload = toEnvelope({ type: "input", data }, { chatId, messageId });
  try {
    const answered = await hub.ask({ userId, sessionId, event: "events", payload }, options);
    return readAnswer(shown.questions, answered);
  } catch {
    return undefined;
  }
}

function toText({ question, options }: Question): string {
  const list = options.map(({ label, description }) => `- ${label}${description && `: ${description}`}`);
  return [question, ...list].join("\n");
}

function readAnswer(questions: readonly Question[], answered: unknown): Answer | undefined {
  const [only, ...others] = questions;
  const isText = typeof answered === "string" && only !== undefined && others.length === 0;
  const answer = Answer.safeParse(isText ? { answers: { [only.id]: answered } } : answered).data;
  return answer && findProblem(questions, answer) === undefined ? answer : undefined;
}
