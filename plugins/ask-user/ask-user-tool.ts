import { randomUUID } from "node:crypto";
import type { Hub } from "#kernel/sockets/hub.ts";
import { defineTool, type Tool, type ToolContext } from "#kernel/tools/tool.ts";
import { askClient } from "./ask-client.ts";
import type { CallPlace, OpenQuestions } from "./open-questions.ts";
import {
  type Answer,
  limits,
  readQuestions,
  type ShownQuestions,
  toResult,
  unanswered,
} from "./questions.ts";

interface Parts {
  readonly hub: Pick<Hub, "ask">;
  readonly open: OpenQuestions;
}

const { least, most, standard } = limits.timeoutMs;

/** Asks the person and waits for the answer (contract §3.6). */
export function createAskUserTool(parts: Parts): Tool {
  return defineTool({
    id: "ask-user.ask_user",
    category: "ask_user",
    title: "Question to you",
    isAlone: true,
    isOffered: ({ chatId }) => chatId !== undefined && !chatId.startsWith("channel:"),
    spec: {
      name: "ask_user",
      description:
        "Asks the user one to three questions with options to choose from, and waits for the answer. Use it when you cannot go on well without a decision that only the user can make. It must be the only call of your turn.",
      parameters: parameterSchema,
    },
    async run(parameters, context) {
      const questions = readQuestions(parameters["questions"]);
      const timeoutMs = Math.min(
        most,
        Math.max(least, Math.floor(Number(parameters["timeout_ms"])) || standard),
      );
      const shown = { questions, timeout_ms: timeoutMs, expires_at: Date.now() + timeoutMs };
      const answer = await ask(parts, shown, context);
      context.call?.showWaiting(undefined);
      return answer === undefined ? unanswered : toResult(questions, answer);
    },
  });
}

const parameterSchema = {
  type: "object",
  properties: {
    questions: {
      type: "array",
      minItems: 1,
      maxItems: limits.questions,
      items: {
        type: "object",
        properties: {
          id: { type: "string", description: "Names the question in the answer" },
          header: { type: "string", description: "One or two words above the question" },
          question: { type: "string" },
          options: {
            type: "array",
            minItems: limits.options.least,
            maxItems: limits.options.most,
            items: {
              type: "object",
              properties: {
                label: { type: "string" },
                description: { type: "string", description: "What choosing it means" },
              },
              required: ["label"],
            },
          },
          allow_other: { type: "boolean", default: true, description: "The user may write another answer" },
        },
        required: ["id", "question", "options"],
      },
    },
    timeout_ms: { type: "integer", minimum: least, maximum: most, default: standard },
  },
  required: ["questions"],
};

/**
 * The first answer that comes over the socket of the run or through the call that the chat shows; undefined when time
 * is over. Rejects when the run ends: the question then stays as it is shown, for the reply may be continued.
 */
async function ask(
  { hub, open }: Parts,
  shown: ShownQuestions,
  { principal, chatId, messageId, sessionId, signal, call }: ToolContext,
): Promise<Answer | undefined> {
  const callId = call?.id ?? randomUUID();
  const place: CallPlace = {
    userId: principal.userId,
    chatId: chatId ?? "",
    messageId: messageId ?? "",
    callId,
  };
  const over = new AbortController();
  const { promise: stopped, reject } = Promise.withResolvers<never>();
  const stop = () => reject(signal.reason);
  signal.throwIfAborted();
  signal.addEventListener("abort", stop, { once: true });
  const timer = Promise.withResolvers<undefined>();
  const timeout = setTimeout(() => timer.resolve(undefined), shown.timeout_ms);
  try {
    const waiting = open.wait(place, shown.questions);
    call?.showWaiting({ ...shown });
    if (sessionId !== undefined) {
      const options = { signal: over.signal, timeoutMs: shown.timeout_ms };
      void askClient(hub, { ...place, sessionId, shown }, options).then(
        (answer) => answer && open.answer(place, answer),
      );
    }
    return await Promise.race([waiting, timer.promise, stopped]);
  } finally {
    over.abort();
    clearTimeout(timeout);
    open.remove(place);
    signal.removeEventListener("abort", stop);
  }
}
