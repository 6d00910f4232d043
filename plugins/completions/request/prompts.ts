import type { PromptRun, PromptSource } from "../service.ts";

/** What plugins add to the system prompt of a run, in their order. */
export async function gatherPrompts(
  sources: readonly PromptSource[],
  run: PromptRun,
): Promise<(string | undefined)[]> {
  return await Promise.all(sources.map((source) => source.prompt(run)));
}
