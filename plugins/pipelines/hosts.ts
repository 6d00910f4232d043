import type { PipelineHost } from "#plugins/provider-common/service.ts";

/** One filter, or one model with its own filter, of a pipelines server (contract §4.4). */
export interface RemotePipeline {
  readonly host: PipelineHost;
  /** As the server knows it. */
  readonly id: string;
  readonly name: string;
  /** Ascending; ties by id. */
  readonly priority: number;
  /** Ids of the models that a filter is for; `*` for all. */
  readonly targets: readonly string[];
}

/** What runs before and after a model. */
export interface Chosen {
  /** Filters that name the model, in order. */
  readonly filters: readonly RemotePipeline[];
  /** The model itself, when it is a pipeline: its own filter runs too. */
  readonly own: RemotePipeline | undefined;
}

/** Everything the pipelines servers offer, ready to be chosen from. */
export interface RemotePipelines {
  readonly isEmpty: boolean;
  /** `ids`: every id under which the model goes. */
  choose(ids: readonly string[]): Chosen;
}

/** Reads the lists of all hosts; items without a usable `pipeline` are plain models. */
export function toRemotePipelines(hosts: readonly PipelineHost[]): RemotePipelines {
  const filters: RemotePipeline[] = [];
  const models = new Map<string, RemotePipeline>();
  for (const host of hosts) {
    for (const item of host.items) {
      const facts = toFacts(item["pipeline"]);
      if (facts === undefined) {
        continue;
      }
      const { id, name } = item;
      const pipeline = { host, id, name: typeof name === "string" && name !== "" ? name : id, ...facts };
      if (facts.type === "filter") {
        filters.push(pipeline);
      } else {
        models.set(toPublicId(host, id), pipeline);
      }
    }
  }
  filters.sort((a, b) => a.priority - b.priority || (a.id < b.id ? -1 : 1));
  return {
    isEmpty: filters.length === 0 && models.size === 0,
    choose: (ids) => ({
      filters: filters.filter((filter) => ids.some((id) => isFor(filter, id))),
      own: ids.map((id) => models.get(id)).find((model) => model !== undefined),
    }),
  };
}

function isFor({ targets, host }: RemotePipeline, modelId: string): boolean {
  // A server knows its own models without the prefix that this platform puts before them.
  return targets.some(
    (target) => target === "*" || target === modelId || toPublicId(host, target) === modelId,
  );
}

function toPublicId({ prefix }: PipelineHost, id: string): string {
  return prefix === "" ? id : `${prefix}.${id}`;
}

function toFacts(value: unknown) {
  if (typeof value !== "object" || value === null) {
    return undefined;
  }
  const { type, priority, pipelines } = value as Record<string, unknown>;
  return {
    type,
    priority: typeof priority === "number" && Number.isFinite(priority) ? priority : 0,
    targets: Array.isArray(pipelines) ? pipelines.filter((target) => typeof target === "string") : [],
  };
}
