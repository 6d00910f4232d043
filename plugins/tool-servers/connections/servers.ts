import type { ConfigRegistry } from "#config/registry.ts";
import type { Principal } from "#kernel/access/principal.ts";
import type { Access } from "#kernel/access/resource.ts";
import type { Logger } from "#kernel/log.ts";
import type { ToolServerConfig } from "../config.ts";
import type { ToolServerConnection, ToolServers } from "../service.ts";
import { toConnection } from "./connection.ts";

export interface ServersOptions {
  readonly config: ToolServerConfig;
  readonly configuration: Pick<ConfigRegistry, "onChange">;
  readonly access: Pick<Access, "passes">;
  readonly log: Logger;
}

/** The configured servers with those that are switched off or cannot be used. */
export interface Servers extends ToolServers {
  configured(): readonly ToolServerConnection[];
}

/** Builds the service over the stored setting; what it comes to is built anew only when it was changed. */
export function createServers({ config, configuration, access, log }: ServersOptions): Servers {
  let madeOf: unknown;
  let known: readonly ToolServerConnection[] = [];
  const configured = () => {
    if (madeOf !== config.connections) {
      madeOf = config.connections;
      known = config.connections.map(toConnection);
      for (const { toolId, problem } of known.filter(({ isEnabled }) => isEnabled)) {
        if (problem !== undefined) {
          log.warn({ server: toolId, problem }, "a tool server is left out");
        }
      }
    }
    return known;
  };
  const all = () => {
    const usable = configured().filter((server) => server.isEnabled && server.problem === undefined);
    // Of two with one id, the first counts.
    return usable.filter(({ toolId }, at) => usable.findIndex((other) => other.toolId === toolId) === at);
  };
  return {
    configured,
    all,
    readable: async (principal) => all().filter((server) => isGranted(access, principal, server)),
    changed: (listener) =>
      configuration.onChange((names) => void (names.includes("TOOL_SERVER_CONNECTIONS") && listener())),
  };
}

/** Grants of a server stand in its entry, which the environment may hold as well; without any it is for administrators. */
function isGranted(
  access: Pick<Access, "passes">,
  principal: Principal,
  { config }: ToolServerConnection,
): boolean {
  const grants = config?.access_grants ?? [];
  if (principal.role === "admin" && (grants.length === 0 || access.passes(principal))) {
    return true;
  }
  return grants.some(({ principal_type: type, principal_id: id }) =>
    type === "user" ? id === principal.userId || id === "*" : principal.groupIds.includes(id),
  );
}
