import type { Connections } from "./connections.ts";
import type { CommonProvider } from "./provider.ts";
import type { CommonConnections } from "./service.ts";

/** What this plugin offers others. */
export function toService(provider: CommonProvider, connections: Connections): CommonConnections {
  return {
    find(modelId) {
      const target = connections.find(modelId);
      return (
        target && {
          provider: target.connection.provider,
          passthroughParams: target.connection.passthroughParams,
          upstreamId: target.upstreamId,
        }
      );
    },
    async post({ modelId, path, ...call }) {
      return provider.send(path, { ...call, target: provider.requireTarget(modelId) });
    },
  };
}
