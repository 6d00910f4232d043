import { mapMaybe } from "#kernel/maybe-promise.ts";
import { Readable } from "node:stream";
import type { Chunk, Completion } from "#kernel/completion/chunk.ts";
import type {
  CallContext,
  CompletionAnswer,
  MessageSupport,
  ModelProvider,
} from "#kernel/completion/provider.ts";
import { toRequestJson } from "#kernel/completion/content-text.ts";
import { isObject, normalizeCompletion } from "#kernel/completion/normalize-chunk.ts";
import { packVectors } from "#kernel/upstream/pack-vectors.ts";
import { AppError } from "#kernel/errors.ts";
import type { Upstream } from "#kernel/http/route.ts";
import type { Logger } from "#kernel/log.ts";
import { namesModelOnce, withModel } from "#kernel/upstream/model-key.ts";
import { readText } from "#kernel/upstream/read-text.ts";
import { toAddress } from "../connections/addresses.ts";
import { readChunks } from "./chunk-stream.ts";
import type { CommonConfig } from "../config.ts";
import type { Connections } from "../connections/connections.ts";
import { fromCompletion, toCompletion } from "./fold.ts";
import { requireNoError } from "./frames.ts";
import type { Target } from "../models/offers.ts";
import { fitsAsItIs, toUpstreamBody } from "./request.ts";
import type { Posting, PreparedCall } from "./prepared-call.ts";
import { askByResponses } from "../responses/answer.ts";
import { toForward } from "../responses/forward.ts";
import type { UpstreamClient } from "../connections/upstream.ts";

/** Id of the provider of common-format connections. */
export const providerId = "common";

export interface ProviderOptions {
  readonly connections: Connections;
  readonly client: UpstreamClient;
  readonly config: Pick<CommonConfig, "enabled" | "maxChunkSize" | "statefulResponses">;
  readonly log: Logger;
  /** How requests of the vendor's message format fare with a model, by its public id. */
  messageSupport(modelId: string): MessageSupport | undefined;
}

/** The provider with what the compat surface needs besides. */
export interface CommonProvider extends ModelProvider, Posting {
  embed: NonNullable<ModelProvider["embed"]>;
  /** Where a model's calls go. Throws `unavailable` while the connections are switched off, `not_found` for other models. */
  requireTarget(id: string): Target;
  /** The upstream's answer when its bytes may go out as they are, else the read answer. */
  relay(call: PreparedCall): Promise<Upstream | CompletionAnswer>;
  /** Like `post` to /embeddings; vectors come in base64 where that was asked for, even if the upstream cannot pack. */
  postEmbeddings(call: PreparedCall, format: unknown): Promise<Upstream>;
}

const largestAnswer = 64 * 1024 * 1024;

/** Builds the provider of all common-format connections. */
export function createProvider(options: ProviderOptions): CommonProvider {
  const { client, config } = options;

  const send = (path: string, { target, context, body, isStream, headers }: PreparedCall) => {
    const { connection, upstreamId } = target;
    const sent = { method: "POST", body, isStream, headers };
    const url = toAddress(connection, path, upstreamId);
    return client.open({ ...sent, connection, url, facts: context, signal: context.signal });
  };
  const requireTarget = (id: string): Target => {
    if (!config.enabled) {
      throw new AppError("unavailable", "The connections to model providers are switched off.");
    }
    const target = options.connections.find(id);
    if (target === undefined) {
      throw new AppError("not_found", "Model not found");
    }
    return target;
  };
  const post = async (path: string, call: PreparedCall): Promise<Upstream> => {
    const upstream = await send(path, call);
    return call.target.connection.prefix === "" ? upstream : withPublicModel(upstream, call);
  };

  const postEmbeddings = async (call: PreparedCall, format: unknown): Promise<Upstream> => {
    const upstream = await post("/embeddings", call);
    if (format !== "base64") {
      return upstream;
    }
    const text = await readText(upstream.body, largestAnswer, call.context.signal);
    return withBody(upstream, packVectors(text));
  };

  return {
    id: providerId,
    models: (wanted) => mapMaybe(options.connections.offers(wanted), ({ models }) => models),
    requireTarget,
    send,
    post,
    postEmbeddings,
    responses: (model) =>
      toForward(options.connections.find(model.id), {
        send,
        post,
        isStateful: () => config.statefulResponses,
      }),
    messages: (model) => options.messageSupport(model.id),
    async complete(asked) {
      const { request, model, text, numbers } = asked;
      const target = requireTarget(model.id);
      const isStream = request.stream === true;
      const isSendable = text !== undefined && request.metadata === undefined && fitsAsItIs(request, target);
      const body =
        isSendable && namesModelOnce(text, request)
          ? text
          : toRequestJson(toUpstreamBody(request, target), numbers?.());
      const call = { target, isStream, context: asked, body };
      return target.connection.apiType === "responses"
        ? askByResponses(call, { send, isStateful: config.statefulResponses }, numbers?.())
        : await toAnswer(await send("/chat/completions", call), call, options);
    },
    async relay(call) {
      if (call.target.connection.apiType === "responses") {
        return askByResponses(call, { send, isStateful: config.statefulResponses });
      }
      const upstream = await send("/chat/completions", call);
      const isUntouched = call.target.connection.prefix === "" && limitOf(config) === undefined;
      return isUntouched ? upstream : toAnswer(upstream, call, options);
    },
    embed({ request, model, ...context }) {
      const target = requireTarget(model.id);
      const body = JSON.stringify(withModel(request, target.upstreamId));
      return postEmbeddings({ target, isStream: false, context, body }, request.encoding_format);
    },
    unload: (call) => unload(options, requireTarget(call.model.id), call),
  };
}

/** Contract §2.1: of servers behind connections one kind alone knows how. */
async function unload(
  { client, connections }: ProviderOptions,
  { connection, upstreamId }: Target,
  { signal, principal }: CallContext,
): Promise<void> {
  if (connection.provider !== "llama.cpp") {
    throw new AppError("invalid", "The provider of this model cannot unload it.");
  }
  const url = `${connection.url.replace(/\/v1$/, "")}/models/unload`;
  const body = JSON.stringify({ model: upstreamId });
  const upstream = await client.open({ connection, url, method: "POST", body, facts: { principal }, signal });
  await readText(upstream.body, largestAnswer, signal);
  await connections.refresh(connection.index);
}

/** Reads an answer the way it came and gives it the way it was asked for. */
async function toAnswer(
  upstream: Upstream,
  call: PreparedCall,
  options: ProviderOptions,
): Promise<CompletionAnswer> {
  const { isStream, target } = call;
  const type = String(upstream.headers["content-type"] ?? "").toLowerCase();
  const comesAsStream = type.includes("event-stream") || (isStream && !type.includes("json"));
  if (!comesAsStream) {
    const text = await readText(upstream.body, largestAnswer, call.context.signal);
    const completion = toPublicId(parseCompletion(text), target);
    const whole = { kind: "whole" as const, completion, ...(target.connection.prefix === "" && { text }) };
    return isStream
      ? { kind: "stream", stream: { raw: undefined, chunks: () => fromCompletion(completion) } }
      : whole;
  }
  const stream = toStream(upstream, call, options);
  return isStream
    ? { kind: "stream", stream }
    : { kind: "whole", completion: await toCompletion(stream.chunks()) };
}

function toStream(upstream: Upstream, { target, context }: PreparedCall, { config, log }: ProviderOptions) {
  const { connection } = target;
  const softLimit = limitOf(config);
  const isPlain = connection.prefix === "" && softLimit === undefined;
  const told = new Set<string>();
  // Once a stream and reason: an upstream that sends nothing but junk must not fill the log.
  const skipped = (reason: string) => {
    if (!told.has(reason)) {
      told.add(reason);
      log.warn({ connection: connection.index }, `a provider's frames are left out: ${reason}`);
    }
  };
  const amend = connection.prefix === "" ? undefined : (chunk: Chunk) => void toPublicId(chunk, target);
  return {
    raw: isPlain ? upstream : undefined,
    chunks: (atLeast?: number) =>
      readChunks(upstream.body, { softLimit, signal: context.signal, skipped, amend, atLeast }),
  };
}

/** Bytes of a frame beyond which it is dropped; undefined keeps all. Contract D.21. */
function limitOf({ maxChunkSize }: Pick<CommonConfig, "maxChunkSize">): number | undefined {
  return maxChunkSize !== null && maxChunkSize > 0 ? maxChunkSize : undefined;
}

function parseCompletion(text: string): Completion {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new AppError("upstream", "The provider's answer is not valid JSON.", { cause: error });
  }
  requireNoError(value);
  if (!isObject(value) || !Array.isArray(value["choices"])) {
    throw new AppError("upstream", "The provider's answer is not a chat completion.");
  }
  return normalizeCompletion(value);
}

/** Contract D.14: the prefix stands in the `model` field of replies. */
function toPublicId<T extends { model?: string }>(answer: T, { connection }: Target): T {
  if (connection.prefix !== "" && typeof answer.model === "string") {
    answer.model = `${connection.prefix}.${answer.model}`;
  }
  return answer;
}

async function withPublicModel(upstream: Upstream, { target, context }: PreparedCall): Promise<Upstream> {
  const text = await readText(upstream.body, largestAnswer, context.signal);
  let body = text;
  try {
    body = JSON.stringify(toPublicId(JSON.parse(text) as { model?: string }, target));
  } catch {
    // Not JSON: it goes out as it came.
  }
  return withBody(upstream, body);
}

function withBody({ status, headers: sent }: Upstream, body: string): Upstream {
  const { "content-length": _length, ...headers } = sent;
  return { status, headers, body: Readable.from([Buffer.from(body)]) };
}
