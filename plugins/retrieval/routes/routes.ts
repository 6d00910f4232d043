import type { ConfigRegistry } from "#config/registry.ts";
import type { Audit } from "#plugins/audit/service.ts";
import type { Files } from "#plugins/files/service.ts";
import type { RetrievalParts } from "../create-retrieval.ts";
import type { Prefix } from "./prefix.ts";
import { passageRoutes } from "./passage-routes.ts";
import { processRoutes } from "./process-routes.ts";
import { queryRoutes } from "./query-routes.ts";
import { removalRoutes } from "./removal-routes.ts";
import { settingsRoutes } from "./settings-routes.ts";

interface RouteParts extends RetrievalParts {
  readonly use: {
    readonly audit: Audit | undefined;
    readonly configuration: ConfigRegistry;
    readonly files: Files;
  };
}

/** The routes of retrieval, at both of their places. */
export function allRoutes({ use, ...parts }: RouteParts) {
  const { service, scopes, queue, embedding, events, indexes, reindexing } = parts;
  const at = (prefix: Prefix) => [
    ...settingsRoutes(prefix, {
      configuration: use.configuration,
      async embeddingChanged() {
        await queue.retry();
        await embedding.wake();
      },
    }),
    ...queryRoutes(prefix, service),
    ...passageRoutes(prefix, { files: use.files, service }),
    ...processRoutes(prefix, { files: use.files, service, scopes }),
    ...removalRoutes(prefix, {
      files: use.files,
      service,
      audit: use.audit,
      events,
      async resetIndex() {
        await indexes.retireAll();
        await reindexing.orderAll();
        await embedding.wake();
      },
    }),
  ];
  return { api: at("/retrieval"), retrieval: at("") };
}
