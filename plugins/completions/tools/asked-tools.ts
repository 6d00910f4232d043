import type { Principal } from "#kernel/access/principal.ts";
import type { CompletionRequest } from "#kernel/completion/request.ts";
import type { ToolRegistry } from "#kernel/tools/registry.ts";
import type { Tool, ToolProblem } from "#kernel/tools/tool.ts";
import { toDefinitions } from "./native-tools.ts";

export interface AskedTools {
  readonly tools: readonly Tool[];
  /** Tools that the request names and that are left out, such as those of a server that does not answer. */
  readonly problems: readonly ToolProblem[];
}

/**
 * The tools that the request names in `tool_ids` and the caller may use; built-in tools come in only by their own id.
 * Foreign ids that the caller sent were refused before; those that a filter adds are left out.
 */
export async function selectAsked(
  tools: ToolRegistry,
  principal: Principal,
  request: CompletionRequest,
): Promise<AskedTools> {
  const toolIds = request.tool_ids ?? [];
  const problems: ToolProblem[] = [];
  if (toolIds.length === 0) {
    return { tools: [], problems };
  }
  const asked = new Set(toolIds);
  const onProblem = (problem: ToolProblem) => void problems.push(problem);
  const found = await tools.select({ principal, toolIds, onProblem });
  return { tools: found.filter(({ id }) => asked.has(id)), problems };
}

/**
 * The request with the definitions of its `tool_ids`, after any that a filter added: the model's calls go back to
 * the caller unexecuted. Core API, chat completion rule 3.
 */
export async function offerAsked(
  tools: ToolRegistry,
  principal: Principal,
  request: CompletionRequest,
): Promise<Pick<AskedTools, "problems"> & { readonly request: CompletionRequest }> {
  const { tools: asked, problems } = await selectAsked(tools, principal, request);
  const definitions = toDefinitions(asked);
  const offered = [...(request.tools ?? []), ...definitions];
  return { request: definitions.length === 0 ? request : { ...request, tools: offered }, problems };
}
