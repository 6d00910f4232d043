import { mapMaybe } from "#kernel/maybe-promise.ts";
import type { MessageSupport } from "#kernel/completion/provider.ts";
import { AppError } from "#kernel/errors.ts";
import { parseJson } from "#kernel/http/json.ts";
import { toAddress } from "./connections/addresses.ts";
import type { Connections } from "./connections/connections.ts";
import type { CommonProvider } from "./completions/provider.ts";
import { readText } from "#kernel/upstream/read-text.ts";
import type { CommonConnections, ConnectionRequest } from "./service.ts";
import type { UpstreamClient } from "./connections/upstream.ts";

export interface ServiceParts {
  readonly provider: CommonProvider;
  readonly connections: Connections;
  readonly client: UpstreamClient;
  messageSupport(modelId: string): MessageSupport | undefined;
}

const largestAnswer = 64 * 1024 * 1024;

/** What this plugin offers others. */
export function toService(parts: ServiceParts): CommonConnections {
  const { provider, connections } = parts;
  return {
    find(modelId) {
      const target = connections.find(modelId);
      return (
        target && {
          provider: target.connection.provider,
          passthroughParams: target.connection.passthroughParams,
          upstreamId: target.upstreamId,
          prefix: target.connection.prefix,
          extraParams: target.connection.extraParams,
        }
      );
    },
    async post({ modelId, path, ...call }) {
      return provider.send(path, { ...call, target: provider.requireTarget(modelId) });
    },
    messageModels: (wanted) => mapMaybe(connections.offers(wanted), ({ messageModels }) => messageModels),
    messageSupport: parts.messageSupport,
    pipelineHosts: () => connections.known().pipelineHosts,
    async refresh(index) {
      await (index === undefined ? connections.offers() : connections.refresh(index));
    },
    ask: (request) => ask(parts, request),
  };
}

async function ask(
  { connections, client }: ServiceParts,
  { index, path, context: { signal, ...facts }, ...call }: ConnectionRequest,
): Promise<unknown> {
  const connection = connections.list()[index];
  if (connection === undefined || !connection.isEnabled || connection.problem) {
    throw new AppError("not_found", "Connection not found");
  }
  const url = toAddress(connection, path);
  const upstream = await client.open({ ...call, connection, url, facts, signal });
  const text = await readText(upstream.body, largestAnswer, signal);
  try {
    return parseJson(text);
  } catch (error) {
    throw new AppError("upstream", "The answer is not valid JSON.", { cause: error });
  }
}
