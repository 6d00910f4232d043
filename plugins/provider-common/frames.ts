import type { Chunk, ChunkChoice, Delta, ToolCallDelta } from "#kernel/completion/chunk.ts";
import { ProviderError } from "#kernel/errors.ts";
import type { SseEvent } from "#kernel/upstream/sse-parser.ts";

type JsonObject = Record<string, unknown>;

/**
 * The chunks of one event: usually one, none for a frame that is broken or of no known kind (nothing but typed
 * deltas gets through). Throws ProviderError for a frame that reports an error.
 */
export function toChunks({ data, name }: SseEvent): Chunk[] | "broken" {
  const values = parseData(data);
  if (values === undefined) {
    return "broken";
  }
  const chunks: Chunk[] = [];
  for (const value of values) {
    requireNoError(value, name);
    const chunk = toChunk(value);
    if (chunk) {
      chunks.push(chunk);
    }
  }
  return chunks;
}

/** The error of a frame or of a body that came with status 200. Throws ProviderError when there is one. */
export function requireNoError(value: unknown, eventName = ""): void {
  if (!isObject(value)) {
    return;
  }
  const error = value.error ?? (eventName === "error" ? value : undefined);
  if (error === undefined || error === false || error === "") {
    return;
  }
  const body = JSON.stringify(value.error === undefined ? { error: value } : value);
  throw new ProviderError({ status: statusOf(error), body, contentType: "application/json", headers: {} });
}

/** A parsed frame as a chunk whose parts have the types the common wire gives them; undefined for another kind. */
function toChunk(value: unknown): Chunk | undefined {
  if (!isObject(value)) {
    return undefined;
  }
  if (!Array.isArray(value.choices)) {
    // Some servers send usage without the empty choices that belong to it.
    return isObject(value.usage) ? ({ ...value, choices: [] } as Chunk) : undefined;
  }
  const choices = value.choices as unknown[];
  for (let n = 0; n < choices.length; n++) {
    if (!isSound(choices[n])) {
      value.choices = choices.filter(isObject).map(repairChoice);
      break;
    }
  }
  return value as Chunk;
}

/** The common case, checked without building anything. */
function isSound(choice: unknown): boolean {
  if (!isObject(choice) || !isObject(choice.delta) || typeof choice.index !== "number") {
    return false;
  }
  const { content, tool_calls: calls } = choice.delta;
  return (
    (typeof content === "string" || content === undefined || content === null) &&
    (calls === undefined || (Array.isArray(calls) && calls.every(isSoundCall)))
  );
}

function isSoundCall(call: unknown): boolean {
  return (
    isObject(call) && Number.isInteger(call.index) && (call.function === undefined || isObject(call.function))
  );
}

function repairChoice(choice: JsonObject, position: number): ChunkChoice {
  const delta = isObject(choice.delta) ? repairDelta(choice.delta) : {};
  return { ...choice, index: Number.isInteger(choice.index) ? (choice.index as number) : position, delta };
}

function repairDelta(delta: JsonObject): Delta {
  const { content, tool_calls: calls, ...rest } = delta;
  const repaired: Delta = { ...rest };
  if (Array.isArray(content)) {
    Object.assign(repaired, fromParts(content));
  } else if (content !== undefined) {
    repaired.content = content === null ? null : String(content);
  }
  if (Array.isArray(calls)) {
    repaired.tool_calls = calls.filter(isObject).map(repairCall);
  }
  return repaired;
}

function repairCall(call: JsonObject, position: number): ToolCallDelta {
  const { function: called, ...rest } = call;
  const index = Number.isInteger(call.index) ? (call.index as number) : position;
  return { ...rest, index, ...(isObject(called) && { function: called }) };
}

/** Content in parts, as some reasoning models stream it: texts are joined, thoughts kept apart. */
function fromParts(parts: readonly unknown[]): Delta {
  const delta: Delta = {};
  for (const part of parts.filter(isObject)) {
    if (typeof part.text === "string") {
      delta.content = (delta.content ?? "") + part.text;
    } else if (Array.isArray(part.thinking)) {
      const thought = part.thinking.filter(isObject).map((piece) => String(piece.text ?? ""));
      delta.reasoning_content = (delta.reasoning_content ?? "") + thought.join("");
    }
  }
  return delta;
}

/** The values of one event; servers that forget the blank line between events put several into one. */
function parseData(data: string): unknown[] | undefined {
  const whole = tryParse(data);
  if (whole !== undefined) {
    return [whole];
  }
  if (!data.includes("\n")) {
    return undefined;
  }
  const values = data
    .split("\n")
    .map(tryParse)
    .filter((value) => value !== undefined);
  return values.length > 0 ? values : undefined;
}

function tryParse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function statusOf(error: unknown): number {
  const candidates = isObject(error) ? [error.code, error.status, error.status_code] : [];
  const status = candidates.map(Number).find((code) => Number.isInteger(code) && code >= 400 && code <= 599);
  return status ?? 502;
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
