import { bool, seconds } from "#config/variable.ts";
import { definePlugin } from "#kernel/plugin.ts";
import { optional } from "#kernel/service.ts";
import { events, notices } from "#kernel/services.ts";
import { commonConnections } from "#plugins/provider-common/service.ts";
import { createFilterSource } from "./filter-source.ts";
import { createPipelines, noConnections } from "./pipelines.ts";
import { createRemoteFilters } from "./remote-filter.ts";
import { pipelineRoutes } from "./routes.ts";

const channel = "pipelines";

export default definePlugin({
  id: "pipelines",
  title: "Pipelines",
  summary: "Remote filters and pipes on servers of their own.",
  config: {
    filterTimeout: seconds("PIPELINES_FILTER_TIMEOUT", 30, {
      min: 1,
      whenInvalid: 30,
      text: "Seconds a remote filter has for one request or conversation",
    }),
    filtersRequired: bool("PIPELINES_FILTERS_REQUIRED", false, {
      key: "pipelines.filters_required",
      persisted: true,
      text: "Requests are refused while a remote filter that they need does not answer, instead of going without it",
    }),
  },
  uses: { connections: optional(commonConnections), events, notices },

  setup({ config, use, log }) {
    const connections = use.connections ?? noConnections;
    const remote = createRemoteFilters({
      connections,
      log,
      timeLimit: () => config.filterTimeout * 1000,
      isRequired: () => config.filtersRequired,
    });
    const source = createFilterSource({ connections, remote });
    const pipelines = createPipelines({
      connections,
      events: use.events,
      changed: (index) => use.notices.notify(channel, { index }),
    });
    return {
      filters: [source],
      routes: { api: pipelineRoutes(pipelines) },
      async start() {
        const follow = (payload: unknown) => void connections.refresh((payload as { index: number }).index);
        // A list that was missed is asked for again within half a minute.
        await use.notices.listen(channel, follow, () => undefined);
      },
    };
  },
});
