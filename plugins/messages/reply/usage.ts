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
  const details = toDetails(told);
  const cacheRead = toCount(told["cache_read_input_tokens"]) ?? toCount(details["cached_tokens"]);
  const cacheCreation = toCount(told["cache_creation_input_tokens"]) ?? toFirstCount(details, creationNames);
  const input = toInput(told, (cacheRead ?? 0) + (cacheCreation ?? 0));
  const kept = passed.filter((key) => told[key] !== undefined && told[key] !== null);
  return {
    ...(input !== undefined && { input_tokens: input }),
    output_tokens: toCount(told.completion_tokens) ?? toCount(told.output_tokens) ?? 0,
    ...(cacheRead !== undefined && { cache_read_input_tokens: cacheRead }),
    ...(cacheCreation !== undefined && { cache_creation_input_tokens: cacheCreation }),
    ...Object.fromEntries(kept.map((key) => [key, told[key]])),
  };
}

function toInput(told: Usage, cached: number): number | undefined {
  const prompt = toCount(told.prompt_tokens);
  if (prompt !== undefined) {
    return Math.max(0, prompt - cached);
  }
  const input = toCount(told.input_tokens);
  // Beside the vendor's own cache counts, input tokens are the uncached ones already.
  const isPlain = told["cache_read_input_tokens"] !== undefined;
  return input === undefined || isPlain ? input : Math.max(0, input - cached);
}

/** Names under which upstreams count the prompt tokens that they wrote to a cache. */
const creationNames = ["cache_write_tokens", "cache_creation_tokens", "created_tokens"];

function toDetails(told: Usage): Readonly<Record<string, unknown>> {
  const details = told["prompt_tokens_details"] ?? told["input_tokens_details"];
  return typeof details === "object" && details !== null ? (details as Record<string, unknown>) : {};
}

function toFirstCount(
  details: Readonly<Record<string, unknown>>,
  names: readonly string[],
): number | undefined {
  return names.map((name) => toCount(details[name])).find((count) => count !== undefined);
}

function toCount(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) && value >= 0 ? value : undefined;
}
