import type { Principal } from "#kernel/access/principal.ts";
import { AppError } from "#kernel/errors.ts";
import type { ToolServerConnection, ToolServers } from "#plugins/tool-servers/service.ts";

/** The MCP server of this id that the caller may use; unknown and foreign ones are told alike. */
export async function findServer(
  servers: Pick<ToolServers, "readable">,
  caller: Principal,
  id: string,
): Promise<ToolServerConnection> {
  const found = (await servers.readable(caller)).find((server) => server.type === "mcp" && server.id === id);
  if (found === undefined) {
    throw new AppError("not_found", "MCP server not found");
  }
  return found;
}
