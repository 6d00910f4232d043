import type { Usage } from "#kernel/completion/chunk.ts";

/** Adds up the model calls of one reply. */
export interface UsageTotal {
  /** Takes in the usage of one finished call. */
  add(usage: Usage | undefined): void;
  /** Undefined while no call has told any. */
  total(): Usage | undefined;
}

/**
 * `prompt_tokens` and `completion_tokens` are those of the latest call; `input_tokens`, `output_tokens` and
 * `total_tokens` those of the whole reply (Core API, usage block). `before` is what an interrupted reply had cost.
 */
export function createUsageTotal(before?: Usage): UsageTotal {
  let latest: Usage | undefined = before;
  let input = toCount(before?.input_tokens);
  let output = toCount(before?.output_tokens);
  return {
    add(usage) {
      if (usage === undefined) {
        return;
      }
      const prompt = toCount(usage.prompt_tokens ?? usage.input_tokens);
      const completion = toCount(usage.completion_tokens ?? usage.output_tokens);
      input += prompt;
      output += completion;
      latest = { ...usage, prompt_tokens: prompt, completion_tokens: completion };
    },
    total: () =>
      latest && { ...latest, input_tokens: input, output_tokens: output, total_tokens: input + output },
  };
}

function toCount(value: unknown): number {
  return typeof value === "number" && Number.isFinite(value) && value > 0 ? value : 0;
}
