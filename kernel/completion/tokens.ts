import type { Usage } from "./chunk.ts";

/** What a model call cost, whatever the names its upstream uses. */
export interface Tokens {
  /** Everything the model read, cached parts included. */
  readonly input: number;
  /** Everything it wrote, reasoning included. */
  readonly output: number;
  /** Of the input: what came from the upstream's cache. */
  readonly cached: number;
  /** Of the output: what was thought. */
  readonly reasoning: number;
}

export const noTokens: Tokens = { input: 0, output: 0, cached: 0, reasoning: 0 };

/** Reads a usage block of the common, Responses or vendor message format, or the counters of the local runtime. */
export function toTokens(usage: Usage): Tokens {
  const inputDetails = toBag(usage["prompt_tokens_details"] ?? usage["input_tokens_details"]);
  const outputDetails = toBag(usage["completion_tokens_details"] ?? usage["output_tokens_details"]);
  const read = toCount(usage["cache_read_input_tokens"]);
  // The vendor's input_tokens leave out what went through its cache; prompt_tokens never do.
  const apart =
    usage["prompt_tokens"] === undefined ? read + toCount(usage["cache_creation_input_tokens"]) : 0;
  return {
    input: toCount(usage.prompt_tokens ?? usage.input_tokens ?? usage["prompt_eval_count"]) + apart,
    output: toCount(usage.completion_tokens ?? usage.output_tokens ?? usage["eval_count"]),
    cached: toCount(inputDetails["cached_tokens"]) || read,
    reasoning: toCount(outputDetails["reasoning_tokens"] ?? outputDetails["thinking_tokens"]),
  };
}

/** Whether an object counts tokens at all. */
export function isUsage(value: unknown): value is Usage {
  const bag = toBag(value);
  return ["prompt_tokens", "input_tokens", "completion_tokens", "output_tokens", "prompt_eval_count"].some(
    (name) => typeof bag[name] === "number",
  );
}

/** Four characters make a token, near enough where nobody counted. */
export function estimateTokens(characters: number): number {
  return Math.ceil(characters / 4);
}

/** Characters of all texts in a request; images and other data in it count for nothing. */
export function lengthOfTexts(value: unknown, depth = 0): number {
  if (typeof value === "string") {
    return value.startsWith("data:") ? 0 : value.length;
  }
  if (typeof value !== "object" || value === null || depth > deepest) {
    return 0;
  }
  let length = 0;
  for (const key in value) {
    length += notText.has(key) ? 0 : lengthOfTexts((value as Record<string, unknown>)[key], depth + 1);
  }
  return length;
}

const deepest = 32;

/** Keys whose texts the model does not read as such. */
const notText = new Set([
  "role",
  "type",
  "id",
  "tool_call_id",
  "call_id",
  "data",
  "file_data",
  "url",
  "model",
]);

/** A number that makes no sense must not spoil sums. */
const largest = 1e12;

function toCount(value: unknown): number {
  return typeof value === "number" && Number.isFinite(value) && value > 0
    ? Math.min(Math.trunc(value), largest)
    : 0;
}

function toBag(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}
