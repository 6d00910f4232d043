import type { MaybePromise } from "#kernel/maybe-promise.ts";
import type { Principal } from "#kernel/access/principal.ts";
import type { Upstream } from "#kernel/http/route.ts";
import type { Audience } from "./audience.ts";
import type { Chunk, Completion } from "./chunk.ts";
import type { ExactNumbers } from "./exact-numbers.ts";
import type { CompletionRequest, EmbeddingsRequest } from "./request.ts";

/** One model that a provider offers, before stored records are laid over it. */
export interface ProviderModel {
  /** Public id, prefix included. */
  readonly id: string;
  readonly name: string;
  readonly ownedBy: string;
  /** Epoch seconds. */
  readonly created: number;
  readonly connectionType: "external" | "local";
  readonly tags: readonly { name: string }[];
  /** Who may use it while no record says so (contract D.13). */
  readonly access: Audience;
  /** Further wire keys of the list item (urlIdx, openai, provider, …). */
  readonly item: Readonly<Record<string, unknown>>;
}

/** Facts of the run that an upstream may be told (header templates, user information headers). */
export interface CallContext {
  readonly principal: Principal;
  readonly chatId?: string | undefined;
  readonly messageId?: string | undefined;
  readonly sessionId?: string | undefined;
  readonly userMessageId?: string | undefined;
  readonly userMessageParentId?: string | undefined;
  readonly task?: string | undefined;
  readonly userAgent?: string | undefined;
  readonly signal: AbortSignal;
}

export interface CompletionCall extends CallContext {
  /** `model` is the provider's public id; platform-only keys have been taken out. */
  readonly request: CompletionRequest;
  readonly model: ProviderModel;
  /** The request with the platform's own keys, for providers that run on this platform. */
  readonly asked?: CompletionRequest | undefined;
  /** The model that the caller named: a record over `model`, or that itself. */
  readonly named?: { readonly id: string; readonly meta: Readonly<Record<string, unknown>> } | undefined;
  /** The backend that is to answer, by its index, for providers with several that hold a model. */
  readonly backend?: number | undefined;
  /** The JSON that `request` was read from, where it is known: the caller's own, or what an inlet filter wrote. */
  readonly text?: string | undefined;
  /** Numbers of the caller's request that go out digit for digit, where it has such (contract D.38). */
  readonly numbers?: (() => ExactNumbers | undefined) | undefined;
}

/** Several chunks that arrived together; their order is the upstream's. */
export type ChunkBatch = readonly Chunk[];

/** A streamed answer. It is read once, either as bytes or as chunks. */
export interface ChunkStream {
  /**
   * The upstream's own bytes when they already are what a caller may get (common wire, Server-Sent Events,
   * public model id): a run that looks into nothing passes them on as they are.
   */
  readonly raw: Upstream | undefined;
  /**
   * The parsed chunks, without the closing [DONE]. Throws ProviderError for an error frame, AppError for a broken stream.
   * Whoever will join `atLeast` deltas anyway says so: a provider may wait a moment for that many and parse them at once.
   */
  chunks(atLeast?: number): AsyncIterable<ChunkBatch>;
}

export type CompletionAnswer =
  | { readonly kind: "stream"; readonly stream: ChunkStream }
  | {
      readonly kind: "whole";
      readonly completion: Completion;
      /** The JSON text, when it may be sent as it is. */ readonly text?: string;
    };

/** A request of the vendor message format, ready for an upstream. */
export interface MessageCall extends CallContext {
  /** JSON text with the upstream's own model id in it. */
  readonly body: string;
  readonly isStream: boolean;
  /** Headers of the caller that belong to the format, such as the names of previews it takes part in. */
  readonly headers: Readonly<Record<string, string>>;
  /** Of the caller's address, with its question mark; empty for none. */
  readonly query: string;
}

/** How requests of the vendor message format fare with one model. */
export interface MessageSupport {
  /** The model's id as its upstream knows it. */
  readonly upstreamId: string;
  /** Parameters outside the standard conversion that are passed on; `*` for all. */
  readonly passthroughParams: readonly string[] | "*";
  /** The key of a message under which the upstream takes earlier thoughts back, where that is known. */
  readonly reasoningKey?: string;
  /** What tells the upstream that the model is not to think; where it is left out, no effort is named. */
  readonly thinkingOff?: Readonly<Record<string, unknown>>;
  /** Sends a request as it is; left out where it has to be translated, because the upstream speaks another format. */
  forward?(call: MessageCall): Promise<Upstream>;
  /** Has the upstream count the tokens of a request; gives its answer, whatever it is. Throws like `complete`. */
  countTokens?(call: MessageCall): Promise<Upstream>;
}

/** A request of the Responses format for an upstream that speaks it itself. */
export interface ResponsesCall extends CallContext {
  /** As the caller sent it; the model in it is replaced by the upstream's own id. */
  readonly body: Readonly<Record<string, unknown>>;
  readonly isStream: boolean;
}

/** Sends a request of the Responses format as it is; answers carry the model's public id. Throws like `complete`. */
export type ForwardResponses = (call: ResponsesCall) => Promise<Upstream>;

/** Code that speaks to one kind of upstream. */
export interface ModelProvider {
  readonly id: string;
  /**
   * What is offered now. Answers from the last good lists and refreshes them behind; `refresh` waits for the
   * upstreams (each within its time limit). Never throws because an upstream is down. Every request asks: give the
   * same array until it changes, and no promise where nothing has to be waited for.
   */
  models(options?: { refresh?: boolean }): MaybePromise<readonly ProviderModel[]>;
  /** Starts one model call. Throws ProviderError when the upstream refuses, AppError `upstream`, `timeout` or `unavailable` otherwise. */
  complete(call: CompletionCall): Promise<CompletionAnswer>;
  /** The common embeddings format; left out by providers that have none. */
  embed?(call: CallContext & { request: EmbeddingsRequest; model: ProviderModel }): Promise<Upstream>;
  /** Undefined where there is nothing but `complete`; left out by providers of which that is always so. */
  messages?(model: ProviderModel): MessageSupport | undefined;
  /** Undefined where requests of the Responses format have to be translated; left out where that is always so. */
  responses?(model: ProviderModel): ForwardResponses | undefined;
  /** Frees what the upstreams hold in memory for a model; left out by providers that cannot. */
  unload?(call: CallContext & { model: ProviderModel }): Promise<void>;
}
