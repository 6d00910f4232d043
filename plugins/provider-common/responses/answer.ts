import type { Completion, CompletionMessage } from "#kernel/completion/chunk.ts";
import type { CompletionAnswer } from "#kernel/completion/provider.ts";
import type { ExactNumbers } from "#kernel/completion/exact-numbers.ts";
import { AppError } from "#kernel/errors.ts";
import type { Upstream } from "#kernel/http/route.ts";
import { readStream } from "#kernel/upstream/chunk-reader.ts";
import { TranslatedEvents } from "#kernel/upstream/translated-events.ts";
import { readText } from "#kernel/upstream/read-text.ts";
import { fromCompletion, toCompletion } from "../completions/fold.ts";
import { requireNoError } from "../completions/frames.ts";
import type { Posting, PreparedCall } from "../completions/prepared-call.ts";
import { toResponsesBody } from "./request.ts";
import { type TranslatorOptions, textsOf, toFailure, toFinishReason, toUsage } from "./events.ts";
import { ResponsesTranslator } from "./events.ts";
import { toDetails } from "./reasoning.ts";
import { cutAtStop, StoppedTranslator, toStops } from "../completions/stop-sequences.ts";

export interface AskOptions {
  readonly send: Posting["send"];
  /** ENABLE_RESPONSES_API_STATEFUL. */
  readonly isStateful: boolean;
}

/**
 * A chat completion over a connection of the Responses format: it goes out and comes back translated (contract §2.3).
 * The call's body is that of a chat completion.
 */
export async function askByResponses(
  call: PreparedCall,
  { send, isStateful }: AskOptions,
  numbers?: ExactNumbers,
): Promise<CompletionAnswer> {
  const chat = JSON.parse(String(call.body)) as Record<string, unknown>;
  const { prefix, extraParams } = call.target.connection;
  const translated = toResponsesBody(chat, { extraParams, isStateful });
  const body = JSON.stringify(numbers ? numbers.restoreAnywhere(translated) : translated);
  const streaming = chat["stream_options"] as { include_usage?: unknown } | null | undefined;
  return readResponses(await send("/responses", { ...call, body }), {
    isStream: call.isStream,
    signal: call.context.signal,
    hasUsageChunk: streaming?.include_usage === true,
    stops: toStops(chat["stop"]),
    toPublicId: (id) => (prefix === "" ? id : `${prefix}.${id}`),
  });
}

interface ReadingResponses extends TranslatorOptions {
  /** Whether chunks are wanted. */
  readonly isStream: boolean;
  readonly signal: AbortSignal;
  /** Where the answer ends: the format itself knows no stop sequences. */
  readonly stops: readonly string[];
}

const largestAnswer = 64 * 1024 * 1024;

/** Reads an answer of the Responses format the way it came and gives it the way it was asked for. */
async function readResponses(upstream: Upstream, reading: ReadingResponses): Promise<CompletionAnswer> {
  const { isStream, signal, stops } = reading;
  const type = String(upstream.headers["content-type"] ?? "").toLowerCase();
  if (!type.includes("event-stream") && (!isStream || type.includes("json"))) {
    const completion = fromResponse(await readText(upstream.body, largestAnswer, signal), reading);
    return isStream
      ? { kind: "stream", stream: { raw: undefined, chunks: () => fromCompletion(completion) } }
      : { kind: "whole", completion };
  }
  const chunks = (atLeast?: number) => {
    const translator = new ResponsesTranslator(reading);
    const parser = new TranslatedEvents(
      stops.length > 0 ? new StoppedTranslator(translator, stops) : translator,
    );
    return readStream(upstream.body, { parser, signal, atLeast });
  };
  return isStream
    ? { kind: "stream", stream: { raw: undefined, chunks } }
    : { kind: "whole", completion: await toCompletion(chunks()) };
}

/** A whole response as a chat completion. Throws ProviderError for a failed one, AppError `upstream` for none at all. */
function fromResponse(
  text: string,
  { toPublicId, stops }: Pick<ReadingResponses, "toPublicId" | "stops">,
): Completion {
  const response = parse(text);
  if (response["status"] === "failed") {
    throw toFailure((response["error"] ?? {}) as Record<string, unknown>);
  }
  requireNoError(response);
  const { output, id, created_at: created, model } = response;
  if (!Array.isArray(output)) {
    throw new AppError("upstream", "The provider's answer is not a response.");
  }
  const { message, stop } = toMessage(output as Record<string, unknown>[], stops);
  const reason = stop === undefined ? toFinishReason(response, message.tool_calls !== undefined) : "stop";
  const usage = toUsage(response["usage"]);
  return {
    id: String(id ?? ""),
    object: "chat.completion",
    created: typeof created === "number" ? Math.trunc(created) : 0,
    ...(typeof model === "string" && { model: toPublicId(model) }),
    choices: [{ index: 0, message, finish_reason: reason, ...(stop !== undefined && { stop_reason: stop }) }],
    ...(usage && { usage }),
  };
}

/** What an answer says up to the first of `stops`; what came after it would not have been said. */
function toMessage(output: readonly Record<string, unknown>[], stops: readonly string[]) {
  const message: CompletionMessage = { role: "assistant", content: null };
  for (const item of output) {
    const texts = textsOf(item);
    const cut = cutAtStop(texts.content ?? "", stops);
    for (const [key, text] of Object.entries(cut === undefined ? texts : { content: cut.kept })) {
      message[key] = ((message[key] as string | null | undefined) ?? "") + text;
    }
    if (cut !== undefined) {
      return { message, stop: cut.stop };
    }
    const details = toDetails(item);
    if (details.length > 0) {
      message["reasoning_details"] = [...((message["reasoning_details"] as unknown[]) ?? []), ...details];
    }
    if (item["type"] === "function_call") {
      const called = { name: String(item["name"] ?? ""), arguments: String(item["arguments"] ?? "") };
      const id = String(item["call_id"] ?? item["id"] ?? "");
      (message.tool_calls ??= []).push({ id, type: "function", function: called });
    }
  }
  return { message, stop: undefined };
}

function parse(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null) {
      return value as Record<string, unknown>;
    }
  } catch (error) {
    throw new AppError("upstream", "The provider's answer is not valid JSON.", { cause: error });
  }
  throw new AppError("upstream", "The provider's answer is not a response.");
}
