import { z } from "zod";
import type { Principal } from "#kernel/access/principal.ts";
import { defineRoute } from "#kernel/http/route.ts";
import type { Filter } from "#kernel/pipeline/filter.ts";
import type { Models } from "#plugins/models/service.ts";
import { toModelIds } from "../request/model-ids.ts";
import type { Pipeline } from "./pipeline.ts";

const Stage = z.object({
  id: z.string(),
  name: z.string(),
  /** Null for what stands before all numbers. */
  priority: z.number().nullable(),
  hooks: z.array(z.enum(["inlet", "stream", "outlet"])),
  /** Takes part in background tasks, such as titles. */
  tasks: z.boolean(),
  /** Names of what it stands for, such as the filters of remote servers. */
  members: z.array(z.string()),
});

const PipelineView = z
  .object({
    model: z.object({ id: z.string(), name: z.string() }),
    /** The provider's model that answers, and who provides it. */
    base: z.object({ id: z.string(), provider: z.string() }),
    /** In the order of a request. */
    filters: z.array(Stage),
  })
  .meta({ id: "ModelPipeline" });

export interface DescribeParts {
  readonly models: Pick<Models, "resolve">;
  readonly pipeline: Pick<Pipeline, "choose">;
}

/** Shows what a request to a model passes, chosen exactly as a request of the caller would choose it. */
export function pipelineRoute({ models, pipeline }: DescribeParts) {
  return defineRoute(
    {
      method: "GET",
      path: "/models/pipeline",
      summary: "List the filters that a request to a model passes, in order",
      access: "permission:workspace.functions",
      query: z.object({
        id: z.string().min(1).max(1024),
        /** Filters that people switch on, as requests name them. */
        filter_ids: z.union([z.array(z.string().max(256)).max(200), z.string().max(256)]).default([]),
      }),
      returns: PipelineView,
      fails: [404],
    },
    async ({ caller, query }) => {
      const model = await models.resolve(caller as Principal, query.id);
      const filters = await pipeline.choose({
        principal: caller,
        modelId: model.id,
        modelIds: toModelIds(model),
        modelMeta: model.meta,
        filterIds: [query.filter_ids].flat(),
      });
      return {
        model: { id: model.id, name: model.name },
        base: { id: model.base.id, provider: model.provider.id },
        filters: filters.map(toStage),
      };
    },
  );
}

function toStage(filter: Filter): z.output<typeof Stage> {
  const { id, name, priority, tasks = false, members = [] } = filter;
  const streams = filter.stream !== undefined || filter.streamGroup !== undefined;
  return {
    id,
    name,
    priority: Number.isFinite(priority) ? priority : null,
    hooks: [
      ...(filter.inlet ? (["inlet"] as const) : []),
      ...(streams ? (["stream"] as const) : []),
      ...(filter.outlet ? (["outlet"] as const) : []),
    ],
    tasks,
    members: [...members],
  };
}
