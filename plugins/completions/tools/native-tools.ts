import type { CompletionRequest } from "#kernel/completion/request.ts";
import type { ToolRegistry } from "#kernel/tools/registry.ts";
import type { Tool, ToolProblem, ToolRun } from "#kernel/tools/tool.ts";
import type { FilterContext } from "#kernel/pipeline/filter.ts";
import { isTemporary } from "../request/chat-access.ts";
import type { ResolvedModel } from "#plugins/models/service.ts";

/** A run that has left its inlet filters. */
export interface ToolsRun {
  readonly request: CompletionRequest;
  readonly model: ResolvedModel;
  readonly context: FilterContext;
}

/**
 * The tools of a run that executes them itself: those of `tool_ids` and of the
 * request's terminal, and with a session the built-in ones that the
 * model's categories and capabilities and the request's features let through, less those that it excludes. Core API, chat completion rules 1 and 4.
 */
export async function selectNative(
  tools: ToolRegistry,
  run: ToolsRun & { readonly asked: CompletionRequest },
  onProblem: (problem: ToolProblem) => void,
): Promise<readonly Tool[]> {
  const { request, model, context } = run;
  const toolIds = request.tool_ids ?? [];
  const hasSession = Boolean(request.session_id);
  if (toolIds.length === 0 && !request.terminal_id && !hasSession) {
    return [];
  }
  const asked = new Set(toolIds);
  const excluded = new Set(request.excluded_tool_ids);
  const selection = { principal: context.principal, toolIds, run: toToolRun(run), onProblem };
  const offered = await tools.select(selection);
  return offered.filter(
    (tool) =>
      tool.isExternal ||
      asked.has(tool.id) ||
      (hasSession && !excluded.has(tool.id) && isBuiltIn(tool, request, model.meta)),
  );
}

function toToolRun({ request, asked, model, context }: Parameters<typeof selectNative>[1]): ToolRun {
  const { chatId, messageId, sessionId } = context;
  const isSaved = chatId !== undefined && !isTemporary(chatId) && !chatId.startsWith("channel:");
  return { request, asked, model, chatId, messageId, sessionId, isSaved };
}

/** The definitions of tools as the common wire has them; those that may not be used are not offered (contract D.22). */
export function toDefinitions(tools: readonly Tool[]): NonNullable<CompletionRequest["tools"]> {
  return tools
    .filter(({ approval }) => approval !== "deny")
    .map(({ spec }) => ({ type: "function", function: spec }));
}

type Bag = Readonly<Record<string, unknown>>;

function isBuiltIn(tool: Tool, request: CompletionRequest, meta: Bag): boolean {
  const capabilities = (meta["capabilities"] ?? {}) as Bag;
  const categories = (meta["builtinTools"] ?? {}) as Bag;
  if (tool.isExternal || capabilities["builtin_tools"] === false) {
    return false;
  }
  if (tool.category !== undefined && categories[tool.category] === false) {
    return false;
  }
  // Absent capabilities and categories are on; features are what the person switched on for this request.
  const { feature } = tool;
  return feature === undefined || (request.features?.[feature] === true && capabilities[feature] !== false);
}
