import { toErrorFrame } from "#kernel/http/errors.ts";
import type { ReplyStream, StreamTimes } from "./reply-stream.ts";

/** Token counts of the gateway are always 0 (document 2, Limits 2). */
export const usage = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 };

/** Facts that every chunk of an answer repeats. */
export interface AnswerHead {
  readonly id: string;
  readonly created: number;
  readonly model: string;
}

export interface FrameOptions {
  readonly head: AnswerHead;
  readonly chatId: string;
  readonly requestId: string;
  readonly times: StreamTimes;
  readonly includesUsage: boolean;
  /** Resolves when the run has ended; to its failure where it failed. */
  readonly ended: Promise<Error | undefined>;
}

/** The answer as Server-Sent Events of the common format. */
export async function* toFrames(reply: ReplyStream, options: FrameOptions): AsyncGenerator<string> {
  const { head, times, ended, chatId } = options;
  const base = { ...head, object: "chat.completion.chunk" };
  const chunk = (delta: object, finish: string | null = null, more: object = {}) =>
    toFrame({ ...base, choices: [{ index: 0, delta, finish_reason: finish }], ...more });
  yield chunk({ role: "assistant", content: "" });
  for await (const part of reply.parts(times)) {
    if (part === "comment") {
      yield ": the agent is at work\n\n";
    } else if (part === "idle") {
      yield `: closed after ${times.idleMs / 1000} seconds without output; the run goes on in the chat ${chatId}\n\n`;
      return;
    } else {
      yield chunk(part.kind === "content" ? { content: part.text } : { reasoning_content: part.text });
    }
  }
  const failure = await ended;
  if (failure !== undefined) {
    yield `data: ${toErrorFrame(failure, options.requestId)}\n\n`;
    yield "data: [DONE]\n\n";
    return;
  }
  yield chunk({}, "stop", { usage });
  if (options.includesUsage) {
    yield toFrame({ ...base, choices: [], usage });
  }
  yield "data: [DONE]\n\n";
}

/** The whole answer. */
export function toCompletion(head: AnswerHead, content: string) {
  const message = { role: "assistant" as const, content };
  return {
    ...head,
    object: "chat.completion" as const,
    choices: [{ index: 0, message, finish_reason: "stop" as const }],
    usage,
  };
}

function toFrame(value: object): string {
  return `data: ${JSON.stringify(value)}\n\n`;
}
