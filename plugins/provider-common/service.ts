import type { CallContext } from "#kernel/completion/provider.ts";
import type { Upstream } from "#kernel/http/route.ts";
import { defineService } from "#kernel/service.ts";

/** What other surfaces have to know of the connection behind a model. */
export interface CommonConnection {
  /** The connection's `provider` setting: "", azure, llama.cpp, litellm, … */
  readonly provider: string;
  /** Names of parameters outside the standard conversion that are passed on; `*` for all. */
  readonly passthroughParams: readonly string[] | "*";
  /** The model's id without the connection's prefix. */
  readonly upstreamId: string;
}

export interface CommonPost {
  /** The model's public id. */
  readonly modelId: string;
  /** Below the connection's base address, with a slash in front. */
  readonly path: string;
  /** JSON text, with the upstream's own model id in it. */
  readonly body: string;
  readonly isStream: boolean;
  readonly context: CallContext;
}

/** The common-format connections, for surfaces that speak another format to the same upstreams. */
export interface CommonConnections {
  /** The connection that serves a model; undefined when none does. */
  find(modelId: string): CommonConnection | undefined;
  /** Posts to the model's connection with its credentials. Throws ProviderError for a refusal, AppError without a usable answer. */
  post(request: CommonPost): Promise<Upstream>;
}

export const commonConnections = defineService<CommonConnections>("provider-common.connections");
