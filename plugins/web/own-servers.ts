import { hasPermission } from "#kernel/access/permissions.ts";
import { toList, toObject } from "#config/json-values.ts";
import { isMember, type Principal } from "#kernel/access/principal.ts";
import { toPolicyOrigins } from "./policy.ts";

interface OwnServerParts {
  settingsOf(userId: string): Promise<Record<string, unknown>>;
  /** ENABLE_DIRECT_CONNECTIONS. */
  mayConnect(): boolean;
}

/** Finds the origins of the tool servers and model connections that the caller keeps and may use now. */
export function createOwnServers({ settingsOf, mayConnect }: OwnServerParts) {
  return async (caller: Principal | undefined): Promise<string[]> => {
    if (caller === undefined || !isMember(caller)) {
      return [];
    }
    const hasTools = hasPermission(caller, "features.direct_tool_servers");
    const hasConnections = mayConnect();
    if (!hasTools && !hasConnections) {
      return [];
    }
    // The page is shown while the database is away as well: it says so itself.
    const { ui } = await settingsOf(caller.userId).catch(() => ({ ui: undefined }));
    const { toolServers, directConnections } = toObject(ui);
    return toPolicyOrigins([
      ...(hasTools ? toList(toolServers).flatMap(toAddresses) : []),
      ...(hasConnections ? toList(toObject(directConnections)["OPENAI_API_BASE_URLS"]) : []),
    ]);
  };
}

/** A server's description can stand on another host than the server. */
function toAddresses(server: unknown): unknown[] {
  const { url, path } = toObject(server);
  return [url, path];
}
