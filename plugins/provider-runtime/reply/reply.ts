import { randomUUID } from "node:crypto";
import { type JsonObject, toObject } from "#config/json-values.ts";
import type { Completion, CompletionMessage, ToolCallDelta, Usage } from "#kernel/completion/chunk.ts";
import { AppError, ProviderError } from "#kernel/errors.ts";

/** The keys that all chunks of one reply share. */
export interface ReplyHead {
  readonly id: string;
  readonly created: number;
  /** The public id. */
  readonly model: string;
}

/** Opens a reply of the common wire. */
export function createHead(model: string): ReplyHead {
  return { id: `chatcmpl-${randomUUID()}`, created: Math.floor(Date.now() / 1000), model };
}

/** A whole answer of the runtime's chat route as a completion. Throws AppError `upstream` for anything else. */
export function toCompletion(text: string, head: ReplyHead): Completion {
  const answer = parse(text);
  requireNoError(answer);
  const message = toObject(answer["message"]);
  if (answer["message"] === undefined) {
    throw new AppError("upstream", "The runtime's answer is not a chat reply.");
  }
  const calls = toCalls(message["tool_calls"], 0);
  const said: CompletionMessage = { role: "assistant", content: toText(message["content"]) };
  if (toText(message["thinking"]) !== "") {
    said.reasoning_content = toText(message["thinking"]);
  }
  if (calls.length > 0) {
    said.tool_calls = calls.map(
      ({ index: _index, ...call }) => call as NonNullable<typeof said.tool_calls>[number],
    );
  }
  const logprobs = toLogprobs(answer);
  return {
    ...head,
    object: "chat.completion",
    choices: [
      {
        index: 0,
        message: said,
        finish_reason: toFinish(answer, calls.length > 0),
        ...(logprobs && { logprobs }),
      },
    ],
    usage: toUsage(answer),
  };
}

/** Tool calls with their arguments as text; ids are made where the runtime gives none. */
export function toCalls(calls: unknown, firstIndex: number): ToolCallDelta[] {
  return (Array.isArray(calls) ? calls : []).map((call, at) => {
    const { id, function: called } = toObject(call);
    const { name, arguments: given } = toObject(called);
    return {
      index: firstIndex + at,
      id: typeof id === "string" && id !== "" ? id : `call_${randomUUID().replaceAll("-", "").slice(0, 24)}`,
      type: "function",
      function: {
        name: toText(name),
        arguments: typeof given === "string" ? given : JSON.stringify(given ?? {}),
      },
    };
  });
}

/** Why the reply ended, in the common words. */
export function toFinish(answer: JsonObject, hasCalls: boolean): string {
  // A call that a limit cut is incomplete: contract D.35.
  return answer["done_reason"] === "length" ? "length" : hasCalls ? "tool_calls" : "stop";
}

const durations = ["total_duration", "load_duration", "prompt_eval_duration", "eval_duration"] as const;

/** The usage of a reply, with the runtime's own times in nanoseconds. */
export function toUsage(answer: JsonObject): Usage {
  const prompt_tokens = toCount(answer["prompt_eval_count"]);
  const completion_tokens = toCount(answer["eval_count"]);
  const usage: Usage = { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens };
  for (const name of durations) {
    if (typeof answer[name] === "number") {
      usage[name] = answer[name];
    }
  }
  return usage;
}

/** The runtime's list of tokens with their probabilities as the common wire wraps it. */
export function toLogprobs({ logprobs }: JsonObject): { content: unknown[] } | undefined {
  return Array.isArray(logprobs) ? { content: logprobs } : undefined;
}

/** An error that came with status 200, as a line or a whole answer. Throws ProviderError when there is one. */
export function requireNoError({ error }: JsonObject): void {
  if (error === undefined || error === null || error === false || error === "") {
    return;
  }
  const text = typeof error === "string" ? error : (toObject(error)["message"] ?? JSON.stringify(error));
  throw new ProviderError({
    status: 502,
    body: JSON.stringify({ error: { message: text, type: "server_error", code: 502 } }),
    contentType: "application/json",
    headers: {},
  });
}

export function toText(value: unknown): string {
  return typeof value === "string" ? value : typeof value === "number" ? String(value) : "";
}

function toCount(value: unknown): number {
  return typeof value === "number" && Number.isFinite(value) && value > 0 ? Math.trunc(value) : 0;
}

function parse(text: string): JsonObject {
  try {
    return toObject(JSON.parse(text));
  } catch (error) {
    throw new AppError("upstream", "The runtime's answer is not valid JSON.", { cause: error });
  }
}
