import type { Usage } from "#kernel/completion/chunk.ts";

/** Usage in the vendor message format: input tokens are the uncached ones. */
export interface VendorUsage {
  input_tokens?: number | null;
  output_tokens?: number | null;
  cache_creation_input_tokens?: number | null;
  cache_read_input_tokens?: number | null;
  [key: string]: unknown;
}

/** Keys that are passed through as they are. */
const kept = [
  "cache_creation_input_tokens",
  "cache_read_input_tokens",
  "output_tokens_details",
  "server_tool_use",
  "service_tier",
];

/** Usage on the common wire, where prompt tokens are all that were read. */
export function fromVendorUsage(usage: VendorUsage): Usage {
  const cached = usage.cache_read_input_tokens ?? 0;
  const prompt = (usage.input_tokens ?? 0) + cached + (usage.cache_creation_input_tokens ?? 0);
  const completion = usage.output_tokens ?? 0;
  const present = kept.filter((key) => usage[key] !== undefined && usage[key] !== null);
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: { cached_tokens: cached },
    ...Object.fromEntries(present.map((key) => [key, usage[key]])),
  };
}

/** Later events replace counts; what is missing in them stays. */
export function mergeUsage(known: VendorUsage, update: VendorUsage | null | undefined): VendorUsage {
  const counts = Object.entries(update ?? {}).filter(([, value]) => value !== null && value !== undefined);
  return { ...known, ...Object.fromEntries(counts) };
}
