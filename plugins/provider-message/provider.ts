import { createAccumulator } from "#kernel/completion/accumulate.ts";
import type { Chunk, Completion } from "#kernel/completion/chunk.ts";
import type {
  ChunkBatch,
  CompletionAnswer,
  CompletionCall,
  ModelProvider,
} from "#kernel/completion/provider.ts";
import { AppError, ProviderError } from "#kernel/errors.ts";
import type { Upstream } from "#kernel/http/route.ts";
import { readStream } from "#kernel/upstream/chunk-reader.ts";
import { TranslatedEvents } from "#kernel/upstream/translated-events.ts";
import { readText } from "#kernel/upstream/read-text.ts";
import type { CommonConnection, CommonConnections } from "#plugins/provider-common/service.ts";
import { EventTranslator } from "./from-events.ts";
import { fromMessage, type VendorReply } from "./from-message.ts";
import type { ModelFacts } from "./thinking.ts";
import { toVendor } from "./to-vendor.ts";

export type VendorConnections = Pick<CommonConnections, "find" | "post" | "messageModels" | "messageSupport">;

const largestAnswer = 64 * 1024 * 1024;

/** The version of the format that is spoken here. */
const headers = { "anthropic-version": "2023-06-01" };

/** The provider of all connections to upstreams that speak the vendor's message format (contract D.11). */
export function createProvider(connections: VendorConnections): ModelProvider {
  return {
    id: "message",
    models: (options) => connections.messageModels(options),
    messages: (model) => connections.messageSupport(model.id),
    async complete(call) {
      const { request, model, text: _text, numbers, asked: _asked, named: _named, ...context } = call;
      const connection = connections.find(model.id);
      if (connection === undefined) {
        throw new AppError("not_found", "Model not found");
      }
      const { upstreamId, extraParams, passthroughParams: passthrough } = connection;
      const facts = (model.item["openai"] ?? {}) as ModelFacts;
      const body = toVendor(request, { upstreamId, extraParams, passthrough, facts });
      const upstream = await connections.post({
        modelId: model.id,
        path: "/v1/messages",
        body: JSON.stringify(numbers?.()?.restoreAnywhere(body) ?? body),
        isStream: request.stream === true,
        context,
        headers,
      });
      return toAnswer(upstream, { call, connection });
    },
  };
}

interface Answering {
  readonly call: CompletionCall;
  readonly connection: CommonConnection;
}

/** Reads an answer, streamed or whole, and gives it as the caller wants it. */
async function toAnswer(upstream: Upstream, { call, connection }: Answering): Promise<CompletionAnswer> {
  const { request, signal } = call;
  const isStream = request.stream === true;
  // Contract D.14: the prefix stands in the `model` field of replies.
  const toPublicId = (id: string) => (connection.prefix === "" ? id : `${connection.prefix}.${id}`);
  const type = String(upstream.headers["content-type"] ?? "").toLowerCase();
  if (!type.includes("event-stream") && (!isStream || type.includes("json"))) {
    const text = await readText(upstream.body, largestAnswer, signal);
    const completion = fromMessage(parseReply(text), toPublicId);
    return isStream
      ? { kind: "stream", stream: { raw: undefined, chunks: () => toChunks(completion) } }
      : { kind: "whole", completion };
  }
  const wantsUsage = request.stream_options?.["include_usage"] === true;
  const chunks = (atLeast?: number) =>
    readStream(upstream.body, {
      parser: new TranslatedEvents(new EventTranslator({ wantsUsage, toPublicId })),
      signal,
      atLeast,
    });
  return isStream
    ? { kind: "stream", stream: { raw: undefined, chunks } }
    : { kind: "whole", completion: await toCompletion(chunks()) };
}

function parseReply(text: string): VendorReply {
  let reply: (VendorReply & { type?: string }) | null;
  try {
    reply = JSON.parse(text) as typeof reply;
  } catch (error) {
    throw new AppError("upstream", "The provider's answer is not valid JSON.", { cause: error });
  }
  if (reply?.type === "error") {
    throw new ProviderError({ status: 502, body: text, contentType: "application/json", headers: {} });
  }
  if (!Array.isArray(reply?.content)) {
    throw new AppError("upstream", "The provider's answer is not a message.");
  }
  return reply as VendorReply;
}

/** For an upstream that does not stream although it was asked to. */
async function* toChunks(completion: Completion): AsyncGenerator<ChunkBatch> {
  const { choices = [], usage, ...head } = completion;
  const [choice] = choices;
  const { tool_calls: calls, ...message } = choice?.message ?? { role: "assistant" };
  const tool_calls = calls?.map((call, index) => ({ ...call, index }));
  const chunk = { ...head, object: "chat.completion.chunk" };
  const delta = { ...message, ...(tool_calls && { tool_calls }) };
  yield [
    { ...chunk, choices: [{ index: 0, delta, finish_reason: null }] },
    {
      ...chunk,
      choices: [{ index: 0, delta: {}, finish_reason: choice?.finish_reason ?? "stop" }],
      ...(usage && { usage }),
    },
  ];
}

/** For an upstream that streams although a whole answer was asked for. */
async function toCompletion(batches: AsyncIterable<ChunkBatch>): Promise<Completion> {
  const accumulator = createAccumulator();
  let head: Chunk = {};
  for await (const batch of batches) {
    for (const chunk of batch) {
      head = head.id === undefined ? chunk : head;
      accumulator.add(chunk);
    }
  }
  const usage = accumulator.usage();
  const { choices: _choices, usage: _usage, ...rest } = head;
  const finish_reason = accumulator.finishReason() ?? "stop";
  return {
    ...rest,
    object: "chat.completion",
    choices: [{ index: 0, message: accumulator.message(), finish_reason }],
    ...(usage && { usage }),
  };
}
