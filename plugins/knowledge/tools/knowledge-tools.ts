import { toObject } from "#config/json-values.ts";
import type { Tool, ToolRun, ToolSource } from "#kernel/tools/tool.ts";
import type { ReadingLimits } from "#plugins/files/service.ts";
import { listAttachedTool, listBasesTool, queryBasesTool, searchBasesTool } from "./collection-tools.ts";
import { grepFilesTool, queryFilesTool, searchFilesTool, viewFileTool } from "./file-tools.ts";
import type { ToolScope } from "./knowledge-files.ts";
import { findAttached, findReadable, type ScopeParts } from "./scope.ts";

/**
 * Tools over collections (contract §3.6): over what the model and the folder of a reply bring along, and where they
 * bring nothing over all that the person may read.
 */
export function createKnowledgeTools(scope: ScopeParts, limits: ReadingLimits): ToolSource {
  const { parts, listing } = scope;
  const everything: ToolScope = {
    parts,
    limits,
    isAttached: false,
    find: (principal) => findReadable(scope, principal),
  };

  return {
    id: "knowledge",
    // Built-in tools: nobody asks for them by id.
    granted: async () => [],
    async select({ principal, run }) {
      if (run === undefined) {
        return unique([...attachedTools(everything, undefined), ...freeTools(everything)]);
      }
      const attached = await findAttached(scope, principal, run);
      if (attached.collections.length + attached.files.length > 0) {
        const own = { ...everything, isAttached: true, find: () => findAttached(scope, principal, run) };
        return attachedTools(own, attached.files.length > 0 ? run : undefined);
      }
      return (await listing.isAny(principal)) ? freeTools(everything) : [];
    },
  };
}

/** With a run whose model brings single files along, `view_file` as well. */
function attachedTools(scope: ToolScope, run: ToolRun | undefined): Tool[] {
  return [
    listAttachedTool(scope),
    ...fileTools(scope),
    ...(run && readsText(run) ? [viewFileTool(scope, "view_file")] : []),
  ];
}

/** The tool of that name over the files of the chat stands in where the model reads them by tools. */
function readsText({ model }: ToolRun): boolean {
  return toObject(model.meta["capabilities"])["file_context"] !== false;
}

function freeTools(scope: ToolScope): Tool[] {
  const query = queryBasesTool(scope);
  return [listBasesTool(scope), searchBasesTool(scope), ...(query ? [query] : []), ...fileTools(scope)];
}

function fileTools(scope: ToolScope): Tool[] {
  const query = queryFilesTool(scope);
  return [
    searchFilesTool(scope),
    grepFilesTool(scope),
    ...(query ? [query] : []),
    viewFileTool(scope, "view_knowledge_file"),
  ];
}

function unique(tools: readonly Tool[]): Tool[] {
  return [...new Map(tools.map((tool) => [tool.id, tool])).values()];
}
