import { randomUUID } from "node:crypto";
import { createAccumulator } from "#kernel/completion/accumulate.ts";
import { ChunkNormalizer, isObject, normalizeCompletion } from "#kernel/completion/normalize-chunk.ts";
import type { Chunk, Completion, Delta } from "#kernel/completion/chunk.ts";
import type { ChunkBatch } from "#kernel/completion/provider.ts";
import { AppError } from "#kernel/errors.ts";
import type { Json } from "#kernel/sandbox.ts";

// What a pipe may give (contract 4.2): texts, lines of Server-Sent Events, chunk objects, a whole completion.

/** The fields that all chunks of one answer share. */
export interface AnswerHead {
  readonly id: string;
  readonly created: number;
  readonly model: string;
}

export function createHead(model: string): AnswerHead {
  return { id: `chatcmpl-${randomUUID()}`, created: Math.floor(Date.now() / 1000), model };
}

/**
 * Turns what a pipe gives into chunks, and ends them with a reason when it gave none. Throws AppError `upstream` for
 * `{error}`.
 */
export async function* toChunks(
  items: AsyncIterable<Json | undefined>,
  head: AnswerHead,
): AsyncGenerator<ChunkBatch> {
  const normalizer = new ChunkNormalizer();
  let isFinished = false;
  let hasCalls = false;
  let isFirst = true;
  for await (const item of items) {
    const batch = toBatch(item, head, normalizer);
    if (batch.length === 0) {
      continue;
    }
    for (const { choices } of batch) {
      isFinished ||= choices?.some((choice) => Boolean(choice.finish_reason)) ?? false;
      hasCalls ||= choices?.some((choice) => Boolean(choice.delta?.tool_calls?.length)) ?? false;
    }
    const delta = batch[0]?.choices?.[0]?.delta;
    if (isFirst && delta && delta.role === undefined) {
      batch[0]!.choices![0]!.delta = { role: "assistant", ...delta };
    }
    isFirst = false;
    yield batch;
  }
  if (!isFinished) {
    yield [toChunk(head, {}, hasCalls ? "tool_calls" : "stop")];
  }
}

/** Characters of all that a pipe gives for an answer that is put together before it goes out. */
const mostCharacters = 64 * 1024 * 1024;

/** Joins what a pipe gives into one completion. Throws AppError `upstream` for `{error}` and for what never ends. */
export async function toCompletion(
  items: AsyncIterable<Json | undefined>,
  head: AnswerHead,
): Promise<Completion> {
  const accumulator = createAccumulator();
  const normalizer = new ChunkNormalizer();
  const sources: unknown[] = [];
  let whole: Completion | undefined;
  let characters = 0;
  for await (const item of items) {
    if (isCompletion(item)) {
      whole = normalizeCompletion({
        ...head,
        object: "chat.completion",
        ...(item as object),
        model: head.model,
      });
      continue;
    }
    for (const chunk of toBatch(item, head, normalizer)) {
      accumulator.add(chunk);
      sources.push(...toList(chunk["sources"]));
      characters += lengthOf(chunk);
    }
    if (characters > mostCharacters) {
      throw new AppError("upstream", "The model's answer is longer than 64 MB.");
    }
  }
  if (whole !== undefined) {
    return whole;
  }
  const message = accumulator.message();
  const finish = accumulator.finishReason() ?? (message.tool_calls ? "tool_calls" : "stop");
  const usage = accumulator.usage();
  return {
    ...head,
    object: "chat.completion",
    choices: [{ index: 0, message, finish_reason: finish }],
    ...(usage ? { usage } : {}),
    ...(sources.length > 0 ? { sources } : {}),
  };
}

/** A whole completion as the one chunk of a stream. */
export function fromCompletion({ choices, usage, sources }: Completion, head: AnswerHead): Chunk {
  const { message, finish_reason: finish = "stop" } = choices?.[0] ?? { message: { role: "assistant" } };
  const calls = message.tool_calls?.map((call, index) => ({ ...call, index }));
  const delta = { ...message, ...(calls ? { tool_calls: calls } : {}) } as Delta;
  return {
    ...toChunk(head, delta, finish),
    ...(usage ? { usage } : {}),
    ...(Array.isArray(sources) ? { sources } : {}),
  };
}

function toBatch(item: Json | undefined, head: AnswerHead, normalizer: ChunkNormalizer): Chunk[] {
  if (item === undefined || item === null || item === "") {
    return [];
  }
  if (typeof item !== "object") {
    const text = String(item);
    return isFrames(text) ? fromFrames(text, head, normalizer) : [toChunk(head, { content: text })];
  }
  if (Array.isArray(item)) {
    return item.flatMap((each: Json) => toBatch(each, head, normalizer));
  }
  return [fromObject(item as Readonly<Record<string, Json>>, head, normalizer)];
}

/** Lines of an event stream begin with `data:`, or have such a line below others; a text may well begin with a colon. */
function isFrames(text: string): boolean {
  return text.startsWith("data:") || (/^(?:event|id|retry)?:/.test(text) && /\ndata:/.test(text));
}

/** Only `data:` lines say something; what is no JSON there counts as text. */
function fromFrames(text: string, head: AnswerHead, normalizer: ChunkNormalizer): Chunk[] {
  const chunks: Chunk[] = [];
  const lines = text.split(/\r\n|[\r\n]/);
  for (const line of lines) {
    const data = line.startsWith("data:") ? line.slice(5).trim() : "";
    if (data === "" || data === "[DONE]") {
      continue;
    }
    const value = parse(data);
    chunks.push(
      typeof value === "object" && value !== null
        ? fromObject(value as Readonly<Record<string, Json>>, head, normalizer)
        : toChunk(head, { content: data }),
    );
  }
  return chunks;
}

function fromObject(
  value: Readonly<Record<string, Json>>,
  head: AnswerHead,
  normalizer: ChunkNormalizer,
): Chunk {
  const { error } = value;
  if (error !== undefined && error !== null) {
    throw new AppError("upstream", toErrorText(error));
  }
  if (isCompletion(value)) {
    return fromCompletion(normalizeCompletion({ ...value }), head);
  }
  if (Array.isArray(value["choices"]) || (value["usage"] ?? null) !== null) {
    // The id that the caller named stands in the reply, whichever model the pipe asked itself (contract D.14).
    const { model } = head;
    return normalizer.normalize({ ...head, object: "chat.completion.chunk", choices: [], ...value, model });
  }
  return toChunk(head, { content: JSON.stringify(value) });
}

function toChunk(head: AnswerHead, delta: Delta, finish: string | null = null): Chunk {
  return {
    ...head,
    object: "chat.completion.chunk",
    choices: [{ index: 0, delta, finish_reason: finish }],
  };
}

/** A whole completion has a message where chunks have a delta. */
function isCompletion(value: unknown): boolean {
  const choice = (value as Completion | null | undefined)?.choices?.[0];
  return isObject(choice) && isObject(choice["message"]);
}

/** Characters of what is kept of a chunk. */
function lengthOf({ choices, sources }: Chunk): number {
  const { content, reasoning_content: reasoning, tool_calls: calls } = choices?.[0]?.delta ?? {};
  return (
    (content?.length ?? 0) +
    (reasoning?.length ?? 0) +
    (calls || sources ? JSON.stringify([calls, sources]).length : 0)
  );
}

function toList(value: unknown): unknown[] {
  return Array.isArray(value) ? (value as unknown[]) : [];
}

function toErrorText(error: Json): string {
  if (typeof error === "string") {
    return error;
  }
  const { message, detail } = error as Readonly<Record<string, Json>>;
  return String(message ?? detail ?? JSON.stringify(error));
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
