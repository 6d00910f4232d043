import type { MessageCall, MessageSupport } from "#kernel/completion/provider.ts";
import type { Upstream } from "#kernel/http/route.ts";
import { toMessageAddress } from "./addresses.ts";
import type { Connection } from "./connection.ts";
import type { Connections } from "./connections.ts";
import type { UpstreamClient } from "./upstream.ts";

export interface MessageSupportOptions {
  readonly connections: Connections;
  readonly client: UpstreamClient;
}

/**
 * Says, by a model's public id, how requests of the vendor's message format fare with it. Upstreams of that format and
 * proxies that take it get requests as they are; any other may at least know how to count. Contract D.11.
 */
export function createMessageSupport({ connections, client }: MessageSupportOptions) {
  const send =
    (connection: Connection, path: string) =>
    ({ signal, body, isStream, headers, query, ...facts }: MessageCall): Promise<Upstream> => {
      const url = toMessageAddress(connection, path) + query;
      return client.open({ connection, url, method: "POST", body, isStream, headers, facts, signal });
    };
  return (modelId: string): MessageSupport | undefined => {
    const target = connections.find(modelId);
    if (target === undefined) {
      return undefined;
    }
    const { connection, upstreamId } = target;
    const { passthroughParams, format, provider } = connection;
    return {
      upstreamId,
      passthroughParams,
      ...((format === "message" || provider === "litellm") && { forward: send(connection, "") }),
      // Azure's addresses have no room for it.
      ...(!connection.isAzure && { countTokens: send(connection, "/count_tokens") }),
    };
  };
}
