import type { Usage } from "#kernel/completion/chunk.ts";

/** Usage as the vendor's clients read it. */
export interface MessageUsage {
  /** Prompt tokens that no cache held. */
  input_tokens?: number;
  output_tokens: number;
  [key: string]: unknown;
}

/** Keys that are passed through when an upstream sends them. Rule 5. */
const passed = [
  "cache_creation_input_tokens",
  "cache_read_input_tokens",
  "output_tokens_details",
  "server_tool_use",
  "service_tier",
];

/** Core API, vendor messages rule 5. What the upstream did not tell is left out, but for output tokens. */
export function toMessageUsage(usage: Usage | null | undefined): MessageUsage {
  const told = usage ?? {};
  const cacheRead = toCount(told["cache_read_input_tokens"]) ?? toCachedTokens(told);
  const input = toInput(told, cacheRead ?? 0);
  const kept = passed.filter((key) => told[key] !== undefined && told[key] !== null);
  return {
    ...(input !== undefined && { input_tokens: input }),
    output_tokens: toCount(told.completion_tokens) ?? toCount(told.output_tokens) ?? 0,
    ...(cacheRead !== undefined && { cache_read_input_tokens: cacheRead }),
    ...Object.fromEntries(kept.map((key) => [key, told[key]])),
  };
}

function toInput(told: Usage, cacheRead: number): number | undefined {
  const prompt = toCount(told.prompt_tokens);
  if (prompt !== undefined) {
    const written = toCount(told["cache_creation_input_tokens"]) ?? 0;
    return Math.max(0, prompt - cacheRead - written);
  }
  const input = toCount(told.input_tokens);
  // Beside the vendor's own cache counts, input tokens are the uncached ones already.
  const isPlain = told["cache_read_input_tokens"] !== undefined;
  return input === undefined || isPlain ? input : Math.max(0, input - cacheRead);
}

function toCachedTokens(told: Usage): number | undefined {
  const details = (told["prompt_tokens_details"] ?? told["input_tokens_details"]) as
    | { cached_tokens?: unknown }
    | null
    | undefined;
  return toCount(details?.cached_tokens);
}

function toCount(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) && value >= 0 ? value : undefined;
}
