import { core } from "#config/core.ts";
import { type ModelCall, modelCallEnded } from "#kernel/completion/model-call.ts";
import { troubleBegan } from "#kernel/trouble.ts";
import { toConnectionTrouble } from "#kernel/upstream/endpoint-state.ts";
import { definePlugin } from "#kernel/plugin.ts";
import { fill, optional, provide } from "#kernel/service.ts";
import { blobs, configuration, egress, events } from "#kernel/services.ts";
import { accounts } from "#plugins/accounts/service.ts";
import { unlistedEmbedders } from "#plugins/completions/service.ts";
import { models } from "#plugins/models/service.ts";
import { providerTokens } from "#plugins/oauth/service.ts";
import { responsesFormat } from "#plugins/responses/service.ts";
import { compatRoutes } from "./compat/routes.ts";
import { configRoutes } from "./connections/config-routes.ts";
import { variables } from "./config.ts";
import type { Connection } from "./connections/connection.ts";
import { createConnections } from "./connections/connections.ts";
import { createEntraTokens } from "./connections/entra.ts";
import { fetchModels } from "./models/fetch-models.ts";
import { announceConnections } from "#kernel/upstream/announce-connections.ts";
import { findGroupNames } from "#kernel/upstream/group-names.ts";
import { createHeaderBuilder } from "./connections/headers.ts";
import { passthroughRoutes } from "./compat/passthrough-routes.ts";
import { createMessageSupport } from "./connections/message-support.ts";
import { createProvider } from "./completions/provider.ts";
import { createResponsesProbe } from "./responses/probe.ts";
import { responsesRoute } from "./responses/route.ts";
import { commonConnections } from "./service.ts";
import { settingsRoutes } from "./connections/settings-routes.ts";
import { createSpeechCache } from "#kernel/upstream/speech-cache.ts";
import { speechRoute } from "./speech/route.ts";
import { toService } from "./to-service.ts";
import { createUnlistedEmbedder } from "./compat/unlisted-embedder.ts";
import { createUpstreamClient } from "./connections/upstream.ts";

export default definePlugin({
  id: "provider-common",
  title: "Common-format connections",
  summary: "Calls providers that speak the common chat format.",
  config: {
    ...variables,
    streamIdleTimeout: core.streamIdleTimeout,
    modelListTimeout: core.modelListTimeout,
    commonModelListTimeout: core.commonModelListTimeout,
    requestBodyMaxBytes: core.requestBodyMaxBytes,
  },
  uses: {
    accounts,
    blobs,
    egress,
    configuration,
    events,
    models,
    providerTokens: optional(providerTokens),
    responses: optional(responsesFormat),
  },
  provides: [commonConnections],
  enabled: (config) => config.enabled,
  whenOff: 503,

  setup({ config, use, db, log }) {
    const client = createUpstreamClient({
      egress: use.egress,
      headers: createHeaderBuilder({
        config,
        entra: createEntraTokens({ egress: use.egress, config, log }),
        providerTokens: use.providerTokens,
        groupNames: (ids) => findGroupNames(db, ids),
      }),
      streamIdleTimeout: () => config.streamIdleTimeout,
    });
    const listModels = (connection: Connection) =>
      fetchModels(client, connection, 1000 * (config.commonModelListTimeout ?? config.modelListTimeout));
    const connections = createConnections({
      config,
      fetchModels: listModels,
      log,
      failed: ({ url }, error) => use.events.emit(troubleBegan, toConnectionTrouble(url, error)),
    });
    const messageSupport = createMessageSupport({ connections, client });
    const speeches = createSpeechCache({ blobs: use.blobs, log });
    const provider = createProvider({ connections, client, config, log, messageSupport });
    const shared = {
      provider,
      connections,
      models: use.models,
      findProfile: use.accounts.templateFacts,
      ended: (call: ModelCall) => use.events.emit(modelCallEnded, call),
    };
    return {
      providers: [provider],
      services: [provide(commonConnections, toService({ provider, connections, client, messageSupport }))],
      routes: {
        api: settingsRoutes({ config, configuration: use.configuration, connections, events: use.events }),
        compat: [
          ...configRoutes({
            config,
            configuration: use.configuration,
            connections,
            fetchModels: listModels,
            changed: announceConnections(use.events, provider.id),
          }),
          ...compatRoutes(shared),
          responsesRoute({
            ...shared,
            probe: createResponsesProbe(provider),
            format: use.responses,
            isStateful: () => config.statefulResponses,
          }),
          speechRoute({ ...shared, client, cache: speeches }),
          ...passthroughRoutes({
            ...shared,
            client,
            isAllowed: () => config.passthrough,
            maxBody: () => config.requestBodyMaxBytes,
          }),
        ],
      },
      fills: [fill(unlistedEmbedders, createUnlistedEmbedder(shared))],
      jobs: [
        {
          id: "provider-common.speeches",
          title: "Removes cached speech of providers",
          every: 86_400,
          run: () => speeches.sweep(),
        },
      ],
      start: () => connections.warmUp(),
    };
  },
});
