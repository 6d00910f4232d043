import type { CallContext } from "#kernel/completion/provider.ts";
import type { Upstream } from "#kernel/http/route.ts";
import { defineService } from "#kernel/service.ts";

export interface RuntimePost {
  /** The model's public id; whoever calls has checked that the caller may use it. */
  readonly modelId: string;
  /** One backend; any that holds the model when left out. */
  readonly index?: number | undefined;
  /** Below the backend's base address, with a slash in front. */
  readonly path: string;
  /** JSON text, with the id under which the chosen backend knows the model. */
  toBody(upstreamId: string): string;
  readonly isStream: boolean;
  readonly context: CallContext;
}

/** The local runtime's backends, for surfaces that speak another format to them. */
export interface RuntimeBackends {
  /**
   * Posts to a backend that holds the model; `prefix` is what its public ids have in front of the backend's own, with a
   * dot, or empty. Throws ProviderError for a refusal, AppError `unavailable`, `not_found`, `upstream` or `timeout`.
   */
  post(request: RuntimePost): Promise<{ upstream: Upstream; prefix: string }>;
}

export const runtimeBackends = defineService<RuntimeBackends>("provider-runtime.backends");
