import { core } from "#config/core.ts";
import { type ModelCall, modelCallEnded } from "#kernel/completion/model-call.ts";
import { troubleBegan } from "#kernel/trouble.ts";
import { toConnectionTrouble } from "#kernel/upstream/endpoint-state.ts";
import { definePlugin } from "#kernel/plugin.ts";
import { configuration, egress, events } from "#kernel/services.ts";
import { announceConnections } from "#kernel/upstream/announce-connections.ts";
import { createUserHeaders } from "#kernel/upstream/user-headers.ts";
import { accounts } from "#plugins/accounts/service.ts";
import { optional } from "#kernel/service.ts";
import { models } from "#plugins/models/service.ts";
import { responsesFormat } from "#plugins/responses/service.ts";
import type { Backend } from "./backends/backend.ts";
import { createBackends } from "./backends/backends.ts";
import { createRuntimeClient } from "./backends/client.ts";
import { configRoutes } from "./routes/config-routes.ts";
import { variables } from "./config.ts";
import { fetchList, readJson } from "./backends/fetch-list.ts";
import { announceModels } from "./model-files/announce-models.ts";
import { createModelFiles } from "./model-files/model-files.ts";
import { createProvider } from "./provider.ts";
import { commonRoutes } from "./routes/common-routes.ts";
import { fileRoutes } from "./routes/file-routes.ts";
import { listRoutes } from "./routes/list-routes.ts";
import { manageRoutes } from "./routes/manage-routes.ts";
import { nativeRoutes } from "./routes/native-routes.ts";
import { stateRoutes } from "./routes/state-routes.ts";
import { responsesRoutes } from "./routes/responses-routes.ts";
import { fetchVersion } from "./backends/version.ts";

export default definePlugin({
  id: "provider-runtime",
  title: "Local model runtime",
  summary: "Calls local runtimes and manages the models on them.",
  config: {
    ...variables,
    streamIdleTimeout: core.streamIdleTimeout,
    modelListTimeout: core.modelListTimeout,
    dataDir: core.dataDir,
  },
  uses: { accounts, egress, configuration, events, models, responses: optional(responsesFormat) },
  enabled: (config) => config.enabled,
  whenOff: 503,

  setup({ config, use, log }) {
    const timeLimit = () => 1000 * config.modelListTimeout;
    const client = createRuntimeClient({
      egress: use.egress,
      users: createUserHeaders(config),
      streamIdleTimeout: () => config.streamIdleTimeout,
      recordReachability: (backend, isReached) => backends.recordReachability(backend, isReached),
    });
    const backends = createBackends({
      config,
      fetchList: (backend) => fetchList(client, backend, timeLimit()),
      log,
      failed: ({ url }, error) => use.events.emit(troubleBegan, toConnectionTrouble(url, error)),
    });
    const provider = createProvider({ backends, client, egress: use.egress, config, log });
    const files = createModelFiles(config.dataDir);
    const managing = { backends, client, announce: announceModels(use.events) };
    const versionOf = (backend: Backend) => fetchVersion(client, backend, timeLimit());
    const relaying = {
      provider,
      client,
      models: use.models,
      findProfile: use.accounts.templateFacts,
      ended: (call: ModelCall) => use.events.emit(modelCallEnded, call),
    };

    return {
      providers: [provider],
      routes: {
        api: stateRoutes(backends),
        runtime: [
          ...configRoutes({
            config,
            configuration: use.configuration,
            backends,
            fetchVersion: versionOf,
            changed: announceConnections(use.events, provider.id),
          }),
          ...listRoutes({
            backends,
            models: use.models,
            fetchVersion: versionOf,
            fetchLoaded: (backend) => readJson(client, backend, { path: "/api/ps", timeLimit: timeLimit() }),
          }),
          ...nativeRoutes(relaying),
          ...commonRoutes(relaying),
          ...responsesRoutes({ provider, models: use.models, format: use.responses }),
          ...manageRoutes(managing),
          ...fileRoutes({
            ...managing,
            egress: use.egress,
            files,
            maxBytes: () => config.modelFileMaxBytes,
          }),
        ],
      },
      async start() {
        backends.warmUp();
        await files.sweep();
      },
    };
  },
});
