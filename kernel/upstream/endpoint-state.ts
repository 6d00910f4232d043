import { z } from "zod";
import { AppError, ProviderError } from "#kernel/errors.ts";
import type { Endpoint } from "./endpoint.ts";
import type { Trouble } from "#kernel/trouble.ts";
import { toRefusal } from "./endpoint-form.ts";
import type { ListHealth } from "./fresh-list.ts";

/** A configured upstream as administrators see it: how it fared lately, and the models it offers. */
export const EndpointState = z
  .object({
    index: z.int(),
    url: z.string(),
    /** `unusable`: switched on, but its settings do not fit; `fixed`: its models are named, so that it is not asked. */
    state: z.enum(["off", "unusable", "fixed", "unknown", "reachable", "failing"]),
    /** Why it cannot be used or did not answer. */
    reason: z.string().nullable(),
    checked_at: z.int().nullable(),
    latency_ms: z.int().nullable(),
    /** Seconds until it is asked again, while the breaker is open. */
    retry_in: z.int().nullable(),
    models: z.array(z.string()),
    /** It runs remote filters and pipes. */
    pipelines: z.boolean(),
  })
  .meta({ id: "EndpointState" });

export type EndpointState = z.output<typeof EndpointState>;

export const EndpointStates = z.object({ data: z.array(EndpointState) });

/** `refresh=true` asks every upstream anew, for two seconds at most. */
export const EndpointStateQuery = z.object({
  refresh: z
    .enum(["true", "false"])
    .default("false")
    .transform((text) => text === "true"),
});

export interface ObservedEndpoint {
  readonly endpoint: Pick<Endpoint, "index" | "url" | "isEnabled" | "problem" | "modelIds">;
  /** False while the whole kind of upstream is switched off. */
  readonly isKindEnabled: boolean;
  readonly health: ListHealth | undefined;
  /** Public ids. */
  readonly models: readonly string[];
  readonly runsPipelines?: boolean;
  /** Its named models are offered without asking. */
  readonly isNeverListed?: boolean;
}

/** The state of one upstream, from what is known without asking it. */
export function toEndpointState(observed: ObservedEndpoint): EndpointState {
  const { endpoint, health, models } = observed;
  const { index, url, problem } = endpoint;
  const state = toState(observed);
  const pause = health?.pausesFor() ?? 0;
  return {
    index,
    url,
    state,
    reason: state === "unusable" ? `It cannot be used: ${problem}.` : toReason(state, health),
    checked_at: health?.checkedAt ?? null,
    latency_ms: health && health.error === undefined ? health.latencyMs : null,
    retry_in: state === "failing" && pause > 0 ? Math.ceil(pause / 1000) : null,
    models: [...models],
    pipelines: observed.runsPipelines ?? false,
  };
}

function toState({ endpoint, isKindEnabled, health, isNeverListed }: ObservedEndpoint) {
  if (!isKindEnabled || !endpoint.isEnabled) {
    return "off";
  }
  if (endpoint.problem !== undefined) {
    return "unusable";
  }
  if (isNeverListed) {
    return "fixed";
  }
  if (health === undefined) {
    return "unknown";
  }
  return health.error === undefined ? "reachable" : "failing";
}

function toReason(state: string, health: ListHealth | undefined): string | null {
  return state === "failing" ? toFailure(health?.error) : null;
}

/** A connection that does not answer, as administrators hear of it. */
export function toConnectionTrouble(url: string, error: unknown): Trouble {
  const { host = url } = URL.parse(url) ?? {};
  return { kind: "connection", id: url, name: host, reason: toFailure(error) };
}

/** A refusal in the upstream's own words; other failures in the platform's, which name no address. */
function toFailure(error: unknown): string {
  if (error instanceof ProviderError) {
    return toRefusal("The provider", error);
  }
  return error instanceof AppError && typeof error.detail === "string"
    ? error.detail
    : "The provider could not be asked.";
}
