import type { MaybePromise } from "#kernel/maybe-promise.ts";
import type { CallContext, MessageSupport, ProviderModel } from "#kernel/completion/provider.ts";
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
  /** Put before the public ids of its models with a dot; empty for none. */
  readonly prefix: string;
  /** Parameters that every request of the connection gets unless it has them. */
  readonly extraParams: Readonly<Record<string, unknown>>;
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
  /** Headers that go along where the connection sets none of its own. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** A connection to a server of remote filters and pipes: its list of models says `pipelines` (contract §4.4). */
export interface PipelineHost {
  /** The connection's index. */
  readonly index: number;
  readonly url: string;
  /** Put before the public ids of its models with a dot; empty for none. */
  readonly prefix: string;
  /** Its models as it lists them, filters among them. */
  readonly items: readonly { readonly id: string; readonly [key: string]: unknown }[];
}

/** A request to another route of a connection's upstream. */
export interface ConnectionRequest {
  /** The connection's index. */
  readonly index: number;
  readonly method: "GET" | "POST" | "DELETE";
  /** Below the connection's base address, with a slash in front and its parts encoded. */
  readonly path: string;
  /** JSON text, unless `contentType` says otherwise. */
  readonly body?: string | Buffer | undefined;
  readonly contentType?: string | undefined;
  /** Milliseconds in all. */
  readonly timeLimit: number;
  readonly context: CallContext;
}

/** The common-format connections, for surfaces that speak another format to the same upstreams. */
export interface CommonConnections {
  /** The connection that serves a model; undefined when none does. */
  find(modelId: string): CommonConnection | undefined;
  /** Posts to the model's connection with its credentials. Throws ProviderError for a refusal, AppError without a usable answer. */
  post(request: CommonPost): Promise<Upstream>;
  /** Models of connections to upstreams of the vendor's message format, like `models` of a provider (contract D.11). */
  messageModels(options?: { refresh?: boolean }): MaybePromise<readonly ProviderModel[]>;
  /** How requests of the vendor's message format fare with a model, by its public id; undefined for unknown ones. */
  messageSupport(modelId: string): MessageSupport | undefined;
  /** The connections that run pipelines, by the last good lists; the same array until something changes. */
  pipelineHosts(): readonly PipelineHost[];
  /** Waits for one connection's list of models to be asked for; without an index, for lists that never came, shortly. */
  refresh(index?: number): Promise<void>;
  /**
   * The JSON answer of a connection's upstream, asked with the connection's credentials. Throws ProviderError for a
   * refusal, `not_found` for an unknown connection, AppError `upstream` or `timeout` without a usable answer.
   */
  ask(request: ConnectionRequest): Promise<unknown>;
}

export const commonConnections = defineService<CommonConnections>("provider-common.connections");
