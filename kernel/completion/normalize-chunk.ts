import type { Chunk, ChunkChoice, Completion, Delta, ToolCallDelta } from "./chunk.ts";
import { ToolCallIndexes } from "./tool-call-indexes.ts";

type JsonObject = Record<string, unknown>;

/** Normalizes the chunks of one stream: besides their types the indexes of tool calls, which depend on earlier chunks. */
export class ChunkNormalizer {
  readonly #indexes = new Map<number, ToolCallIndexes>();

  normalize(value: JsonObject): Chunk {
    const chunk = normalize(value, noIndex);
    for (const { index, delta } of chunk.choices ?? []) {
      if (delta.tool_calls && delta.tool_calls.length > 0) {
        const indexes = this.#indexes.get(index) ?? new ToolCallIndexes();
        this.#indexes.set(index, indexes);
        indexes.assign(delta.tool_calls);
      }
    }
    return chunk;
  }
}

/** What stands for a missing index of a tool call: `position` in its list, or nothing until it is known. */
type MissingIndex = (position: number) => number | undefined;
const noIndex: MissingIndex = () => undefined;

/**
 * A parsed object as a chunk whose choices have the types the common wire gives them, changed in place where they had
 * not: what nothing can be made of is left out. Code behind it reads chunks without looking twice.
 */
export function normalizeChunk(value: JsonObject): Chunk {
  return normalize(value, (position) => position);
}

function normalize(value: JsonObject, missing: MissingIndex): Chunk {
  const { choices } = value;
  if (!Array.isArray(choices)) {
    if (choices !== undefined) {
      value.choices = [];
    }
    return value as Chunk;
  }
  for (let n = 0; n < choices.length; n++) {
    if (!isSound(choices[n])) {
      value.choices = choices
        .filter(isObject)
        .map((choice, position) => repairChoice(choice, position, missing));
      break;
    }
  }
  return value as Chunk;
}

/** The same for a whole completion: every choice has a message, whose calls are a list of calls. */
export function normalizeCompletion(value: JsonObject): Completion {
  const { choices } = value;
  if (!Array.isArray(choices) || !choices.every(isSoundAnswer)) {
    value.choices = (Array.isArray(choices) ? choices : []).filter(isObject).map(repairAnswer);
  }
  return value as Completion;
}

function isSoundAnswer(choice: unknown): boolean {
  if (!isObject(choice) || !isObject(choice.message)) {
    return false;
  }
  const { tool_calls: calls } = choice.message;
  return calls === undefined || (Array.isArray(calls) && calls.every(isSoundToolCall));
}

/** Calls of custom tools have no function. */
function isSoundToolCall(call: unknown): boolean {
  return isObject(call) && (call.function === undefined || call.function === null || isObject(call.function));
}

function repairAnswer(choice: JsonObject, position: number): JsonObject {
  const message = isObject(choice.message) ? choice.message : { role: "assistant", content: "" };
  const { tool_calls: calls, ...rest } = message as JsonObject;
  const sound = Array.isArray(calls) ? calls.filter(isSoundToolCall) : [];
  return {
    ...choice,
    index: Number.isInteger(choice.index) ? choice.index : position,
    message: { ...rest, ...(sound.length > 0 && { tool_calls: sound }) },
  };
}

/** Whether a value is an object that JSON can hold, and no list. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
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

function repairChoice(choice: JsonObject, position: number, missing: MissingIndex): ChunkChoice {
  // Some servers stream the whole answer as one event, in the form of an unstreamed one.
  const { message, ...rest } = choice;
  const said = choice.delta ?? message;
  const delta = isObject(said) ? repairDelta(said, missing) : {};
  return { ...rest, index: Number.isInteger(choice.index) ? (choice.index as number) : position, delta };
}

function repairDelta(delta: JsonObject, missing: MissingIndex): Delta {
  const { content, tool_calls: calls, ...rest } = delta;
  const repaired: Delta = { ...rest };
  if (Array.isArray(content)) {
    Object.assign(repaired, fromParts(content));
  } else if (content !== undefined) {
    repaired.content = content === null ? null : String(content);
  }
  if (Array.isArray(calls)) {
    repaired.tool_calls = calls.filter(isObject).map((call, position) => repairCall(call, missing(position)));
  }
  return repaired;
}

function repairCall(call: JsonObject, missing: number | undefined): ToolCallDelta {
  const { function: called, ...rest } = call;
  const index = (Number.isInteger(call.index) ? call.index : missing) as number;
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
