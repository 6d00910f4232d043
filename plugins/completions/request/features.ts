import type { CompletionRequest } from "#kernel/completion/request.ts";
import type { Filter } from "#kernel/pipeline/filter.ts";
import type { Tool, ToolProblem } from "#kernel/tools/tool.ts";
import type { VoiceSettings } from "../media/voice.ts";

/** What a run found for its request. */
export interface Served {
  readonly tools: readonly Tool[];
  readonly features: readonly string[];
  readonly filters: readonly Pick<Filter, "id">[];
}

/**
 * The fields of a request that nothing here serves, as `features.<name>` and `filter_ids.<id>`: the answer names them.
 * Contract D.37.
 */
export function ignoredFields(
  { features, filter_ids: filterIds }: Pick<CompletionRequest, "features" | "filter_ids">,
  { tools, features: gathered, filters }: Served,
  { voiceEnabled }: Pick<VoiceSettings, "voiceEnabled">,
): string[] {
  const isServed = (name: string) =>
    name === "voice"
      ? voiceEnabled
      : gathered.includes(name) || tools.some(({ feature }) => feature === name);
  const unserved = Object.entries(features ?? {})
    .filter(([name, wanted]) => wanted === true && !isServed(name))
    .map(([name]) => `features.${name}`);
  const unknown = [...new Set(filterIds)].filter((id) => !filters.some((filter) => filter.id === id));
  return [...unserved, ...unknown.map((id) => `filter_ids.${id}`)];
}

/** The fields that mean something in a chat alone, of a request that is answered over HTTP. */
export function ignoredOutsideChats({
  background_tasks: tasks,
  terminal_id: terminal,
}: Pick<CompletionRequest, "background_tasks" | "terminal_id">): string[] {
  const wanted = Object.entries(tasks ?? {}).filter(([, isWanted]) => isWanted === true);
  return [...(terminal ? ["terminal_id"] : []), ...wanted.map(([name]) => `background_tasks.${name}`)];
}

/** Tools of the request that were left out, such as those of a server that does not answer or wants a sign-in first. */
export function ignoredTools(
  { tool_ids: asked = [] }: Pick<CompletionRequest, "tool_ids">,
  problems: readonly ToolProblem[],
): string[] {
  const failed = new Set(problems.map(({ toolId }) => toolId));
  return [...new Set(asked)].filter((id) => failed.has(id)).map((id) => `tool_ids.${id}`);
}

/** The header that names them over HTTP; names that no header can carry are left out. */
export function toIgnoredHeader(ignored: readonly string[]): { "x-service-ignored"?: string } {
  const names = ignored.filter((name) => /^[\w.:-]{1,120}$/.test(name)).slice(0, 50);
  return names.length > 0 ? { "x-service-ignored": names.join(", ") } : {};
}
