import type { CompletionRequest } from "#kernel/completion/request.ts";
import type { Conversation, Filter, FilterContext, FilterSource } from "#kernel/pipeline/filter.ts";
import { toMetadata } from "#plugins/completions/service.ts";
import type { CommonConnections, PipelineHost } from "#plugins/provider-common/service.ts";
import { type Chosen, type RemotePipelines, toRemotePipelines } from "./hosts.ts";
import type { RemoteFilters } from "./remote-filter.ts";

export interface FilterSourceOptions {
  readonly connections: Pick<CommonConnections, "pipelineHosts">;
  readonly remote: RemoteFilters;
}

/**
 * The remote filters of a run as one filter, which runs before all others (contract §3.2, steps 6 and 15). Filters
 * that name a base model hold for workspace models over it too: a record must not be a way around a filter.
 */
export function createFilterSource({ connections, remote }: FilterSourceOptions): FilterSource {
  let hosts: readonly PipelineHost[] | undefined;
  let known: RemotePipelines = toRemotePipelines([]);
  return {
    id: "pipelines",
    select({ modelIds, task }) {
      const current = connections.pipelineHosts();
      if (current !== hosts) {
        hosts = current;
        known = toRemotePipelines(current);
      }
      if (known.isEmpty) {
        return [];
      }
      const chosen = known.choose(modelIds);
      return chosen.filters.length > 0 || chosen.own ? [toFilter(chosen, remote, task === undefined)] : [];
    },
  };
}

/** A reply to a task is for the platform itself, in a form it has asked for: what servers add for people would break it. */
function toFilter({ filters, own }: Chosen, remote: RemoteFilters, seesReply: boolean): Filter {
  return {
    id: "pipelines",
    name: "Pipelines",
    // Below every priority that a function or plugin can have.
    priority: Number.NEGATIVE_INFINITY,
    tasks: true,
    members: [...filters, ...(own ? [own] : [])].map(({ name }) => name),
    async inlet(request, context) {
      let body: CompletionRequest = { ...request, metadata: toMetadata(request, context) };
      for (const filter of filters) {
        body = await remote.inlet(filter, body, context);
      }
      return own ? remote.inlet(own, body, { ...context, isOwn: true }) : body;
    },
    ...(seesReply && {
      async outlet(conversation: Conversation, context: FilterContext) {
        let body = conversation;
        if (own) {
          body = await remote.outlet(own, body, { ...context, isOwn: true });
        }
        for (const filter of filters) {
          body = await remote.outlet(filter, body, context);
        }
        return body;
      },
    }),
  };
}
