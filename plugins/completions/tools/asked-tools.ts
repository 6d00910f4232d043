import type { Principal } from "#kernel/access/principal.ts";
import type { CompletionRequest } from "#kernel/completion/request.ts";
import type { ToolRegistry } from "#kernel/tools/registry.ts";
import type { Tool } from "#kernel/tools/tool.ts";
import { toDefinitions } from "./native-tools.ts";

/**
 * The tools that the request names in `tool_ids` and the caller may use; built-in tools come in only by their own id.
 * Foreign ids that the caller sent were refused before; those that a filter adds are left out.
 */
export async function selectAsked(
  tools: ToolRegistry,
  principal: Principal,
  request: CompletionRequest,
): Promise<readonly Tool[]> {
  const toolIds = request.tool_ids ?? [];
  if (toolIds.length === 0) {
    return [];
  }
  const asked = new Set(toolIds);
  return (await tools.select({ principal, toolIds })).filter(({ id }) => asked.has(id));
}

/**
 * The request with the definitions of its `tool_ids`, after any that a filter added: the model's calls go back to
 * the caller unexecuted. Core API, chat completion rule 3.
 */
export async function offerAsked(
  tools: ToolRegistry,
  principal: Principal,
  request: CompletionRequest,
): Promise<CompletionRequest> {
  const definitions = toDefinitions(await selectAsked(tools, principal, request));
  return definitions.length === 0
    ? request
    : { ...request, tools: [...(request.tools ?? []), ...definitions] };
}
