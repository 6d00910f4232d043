import type { ToolSource } from "#kernel/tools/tool.ts";
import type { WebToolParts } from "./common.ts";
import { fetchTool } from "./fetch-tool.ts";
import { searchTool } from "./search-tool.ts";

/** Offers `search_web` and `fetch_url` while web search is on and its engine has what it needs. */
export function createWebTools(parts: WebToolParts): ToolSource {
  return {
    id: "web-search",
    granted: async () => [],
    async select() {
      if (!parts.searches.isReady()) {
        return [];
      }
      const tools = [searchTool(parts), fetchTool(parts)];
      return parts.settings.confirmation ? tools.map((tool) => ({ ...tool, approval: "ask" })) : tools;
    },
  };
}
