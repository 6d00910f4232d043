import type { Chunk, Completion, Delta, Usage } from "#kernel/completion/chunk.ts";

/** Defaults of the builders below. */
export interface ChunkOptions {
  readonly id?: string;
  readonly model?: string;
  /** The choice the chunks belong to. */
  readonly index?: number;
  readonly finish?: string | null;
  /** Sent in a trailing chunk without choices, as `stream_options.include_usage` asks for. */
  readonly usage?: Usage | undefined;
}

/** A call of a tool, as a model makes it. */
export interface ToolCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
}

export const defaultUsage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 } as const;

/** One chunk with one delta. */
export function chunk(delta: Delta, options: ChunkOptions = {}): Chunk {
  return {
    id: options.id ?? "chatcmpl-1",
    object: "chat.completion.chunk",
    created: 1_700_000_000,
    model: options.model ?? "mock-model",
    choices: [{ index: options.index ?? 0, delta, finish_reason: options.finish ?? null }],
  };
}

/** A streamed reply: the role, one chunk a piece (words with their blanks when a string is given), the finish. */
export function textChunks(text: string | readonly string[], options: ChunkOptions = {}): Chunk[] {
  const pieces = typeof text === "string" ? (text.match(/\s*\S+\s*$|\s*\S+/g) ?? [text]) : text;
  return frame(
    pieces.map((content) => ({ content })),
    { finish: "stop", ...options },
  );
}

/** A streamed reply that reasons first. */
export function reasoningChunks(
  reasoning: readonly string[],
  text: readonly string[],
  options: ChunkOptions & { field?: "reasoning_content" | "reasoning" } = {},
): Chunk[] {
  const thoughts = reasoning.map((piece) => ({ [options.field ?? "reasoning_content"]: piece }));
  return frame([...thoughts, ...text.map((content) => ({ content }))], { finish: "stop", ...options });
}

/** A streamed reply that calls tools: names first, then the arguments in pieces, interleaved between the calls. */
export function toolCallChunks(
  calls: readonly ToolCall[],
  options: ChunkOptions & { pieces?: number } = {},
): Chunk[] {
  const opening = calls.map((call, index) => ({
    tool_calls: [{ index, id: call.id, type: "function", function: { name: call.name, arguments: "" } }],
  }));
  const count = options.pieces ?? 2;
  const rest = Array.from({ length: count }, (_, piece) =>
    calls.map((call, index) => ({
      tool_calls: [{ index, function: { arguments: slice(call.arguments, piece, count) } }],
    })),
  );
  return frame([...opening, ...rest.flat()], { finish: "tool_calls", ...options });
}

/** A whole reply in one object. */
export function completion(content: string, options: ChunkOptions = {}): Completion {
  return {
    id: options.id ?? "chatcmpl-1",
    object: "chat.completion",
    created: 1_700_000_000,
    model: options.model ?? "mock-model",
    choices: [
      {
        index: options.index ?? 0,
        message: { role: "assistant", content },
        finish_reason: options.finish ?? "stop",
      },
    ],
    usage: options.usage ?? defaultUsage,
  };
}

function frame(deltas: readonly Delta[], options: ChunkOptions): Chunk[] {
  const { finish, usage, ...plain } = options;
  const chunks = [{ role: "assistant", content: "" }, ...deltas].map((delta) => chunk(delta, plain));
  if (finish) {
    chunks.push(chunk({}, { ...plain, finish }));
  }
  if (usage) {
    chunks.push({ ...chunk({}, plain), choices: [], usage });
  }
  return chunks;
}

function slice(text: string, piece: number, count: number): string {
  const size = Math.ceil(text.length / count);
  return text.slice(piece * size, (piece + 1) * size);
}
