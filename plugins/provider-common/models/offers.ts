import type { ProviderModel } from "#kernel/completion/provider.ts";
import type { Connection } from "../connections/connection.ts";
import { isNoChatModel, type UpstreamList, type UpstreamModel } from "./parse-models.ts";
import { isFilter, toHost } from "../connections/pipeline-hosts.ts";
import type { PipelineHost } from "../service.ts";

/** Where a model's calls go. */
export interface Target {
  readonly connection: Connection;
  /** The id without the connection's prefix, as the upstream knows it. */
  readonly upstreamId: string;
}

/** What all connections offer together. */
export interface Offers {
  /** In the order of connections; of two models with one id the later connection's stays. */
  readonly models: readonly ProviderModel[];
  /** Those of upstreams that speak the vendor's message format: another provider runs them. */
  readonly messageModels: readonly ProviderModel[];
  readonly targets: ReadonlyMap<string, Target>;
  readonly pipelineHosts: readonly PipelineHost[];
}

export interface ConnectionList {
  readonly connection: Connection;
  /** Undefined while the upstream's list has not arrived. */
  readonly list: UpstreamList | undefined;
}

/** Puts the lists of all connections together, with prefixes, fixed model ids and the default host's filter (contract §2.3). */
export function toOffers(entries: readonly ConnectionList[]): Offers {
  const models = new Map<string, ProviderModel>();
  const targets = new Map<string, Target>();
  for (const { connection, list } of entries) {
    for (const model of offered(connection, list?.models ?? [])) {
      const id = connection.prefix === "" ? model.id : `${connection.prefix}.${model.id}`;
      // Deleted first, so that the later one also takes the later place.
      models.delete(id);
      models.set(id, toProviderModel(id, model, connection));
      targets.set(id, { connection, upstreamId: model.id });
    }
  }
  const pipelineHosts = entries.flatMap(({ connection, list }) =>
    list?.runsPipelines ? [toHost(connection, list)] : [],
  );
  const formatOf = (id: string) => targets.get(id)?.connection.format;
  return {
    models: [...models.values()].filter(({ id }) => formatOf(id) === "common"),
    messageModels: [...models.values()].filter(({ id }) => formatOf(id) === "message"),
    targets,
    pipelineHosts,
  };
}

function offered(connection: Connection, listed: readonly UpstreamModel[]): readonly UpstreamModel[] {
  if (connection.modelIds.length > 0) {
    const known = new Map(listed.map((model) => [model.id, model]));
    return connection.modelIds.map((id) => known.get(id) ?? { id });
  }
  return listed.filter((model) => !isFilter(model) && !(connection.isDefaultHost && isNoChatModel(model.id)));
}

function toProviderModel(id: string, model: UpstreamModel, connection: Connection): ProviderModel {
  const name = model["name"] ?? model["display_name"];
  return {
    id,
    name: typeof name === "string" && name !== "" ? name : model.id,
    ownedBy: "openai",
    created: toSeconds(model["created"] ?? model["created_at"]),
    connectionType: connection.connectionType,
    tags: connection.tags,
    access: connection.access,
    item: {
      urlIdx: connection.index,
      openai: { ...model, connection_type: connection.connectionType },
      ...(model["pipeline"] !== undefined && { pipeline: model["pipeline"] }),
      provider: connection.provider,
    },
  };
}

/** Epoch seconds of a number of them or of a date in words. */
function toSeconds(value: unknown): number {
  const seconds = typeof value === "string" ? Date.parse(value) / 1000 : value;
  return typeof seconds === "number" && Number.isFinite(seconds) ? Math.trunc(seconds) : 0;
}
