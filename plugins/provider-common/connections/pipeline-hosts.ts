import type { Connection } from "./connection.ts";
import type { UpstreamList, UpstreamModel } from "../models/parse-models.ts";
import type { PipelineHost } from "../service.ts";

/** The host that a connection with this list is. */
export function toHost({ index, url, prefix }: Connection, { models }: UpstreamList): PipelineHost {
  return { index, url, prefix, items: models };
}

/** True for what filters the requests of other models and is no model itself (contract §4.4). */
export function isFilter({ pipeline }: UpstreamModel): boolean {
  return (pipeline as { type?: unknown } | null | undefined)?.type === "filter";
}
