import { server } from "#plugins/web/kit/server.ts";
import type { ListedTool, ToolFunction } from "#plugins/web/kit/stores/tools.svelte.ts";

/** The functions of a tool. MCP servers are asked now, others when nothing is known of them; only administrators may ask. */
export async function readFunctions(tool: ListedTool): Promise<readonly ToolFunction[]> {
  if (tool.specs !== undefined) {
    return tool.specs;
  }
  if (tool.server?.type !== "openapi") {
    return (await server.call("GET /api/v1/tools/id/:id/specs", { params: { id: tool.id } })).specs;
  }
  const known = await readState(tool.id);
  const state = known?.state === "unknown" ? await readState(tool.id, { refresh: "true" }) : known;
  if (state === undefined || (state.reason !== null && state.functions.length === 0)) {
    throw new Error(state?.reason ?? tool.id);
  }
  return state.functions.flatMap((each) => (each?.is_offered ? [each] : []));
}

async function readState(id: string, query: { refresh?: "true" } = {}) {
  const { data } = await server.call("GET /api/v1/configs/tool_servers/states", { query });
  return data.find((state) => state.tool_id === id);
}
