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

/** Core API, vendor messages rule 5. Counts that the upstream did not report are left out, but for output tokens. */
export function toMessageUsage(reported: Usage | null | undefined): MessageUsage {
  const usage = reported ?? {};
  const details = toDetails(usage);
  const cacheRead = toCount(usage["cache_read_input_tokens"]) ?? toCount(details["cached_tokens"]);
  const cacheCreation = toCount(usage["cache_creation_input_tokens"]) ?? toFirstCount(details, creationNames);
  const input = toInput(usage, (cacheRead ?? 0) + (cacheCreation ?? 0));
  const kept = passed.filter((key) => usage[key] !== undefined && usage[key] !== null);
  return {
    ...(input !== undefined && { input_tokens: input }),
    output_tokens: toCount(usage.completion_tokens) ?? toCount(usage.output_tokens) ?? 0,
    ...(cacheRead !== undefined && { cache_read_input_tokens: cacheRead }),
    ...(cacheCreation !== undefined && { cache_creation_input_tokens: cacheCreation }),
    ...Object.fromEntries(kept.map((key) => [key, usage[key]])),
  };
}

function toInput(usage: Usage, cached: number): number | undefined {
  const prompt = toCount(usage.prompt_tokens);
  if (prompt !== undefined) {
    return Math.max(0, prompt - cached);
  }
  const input = toCount(usage.input_tokens);
  // Beside the vendor's own cache counts, input tokens are the uncached ones already.
  const isPlain = usage["cache_read_input_tokens"] !== undefined;
  return input === undefined || isPlain ? input : Math.max(0, input - cached);
}

/** Names under which upstreams count the prompt tokens that they wrote to a cache. */
const creationNames = ["cache_write_tokens", "cache_creation_tokens", "created_tokens"];

function toDetails(usage: Usage): Readonly<Record<string, unknown>> {
  const details = usage["prompt_tokens_details"] ?? usage["input_tokens_details"];
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
