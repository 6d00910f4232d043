import { mapMaybe } from "#kernel/maybe-promise.ts";
import { createAccumulator } from "#kernel/completion/accumulate.ts";
import type { Completion } from "#kernel/completion/chunk.ts";
import type {
  ChunkBatch,
  CompletionAnswer,
  CompletionCall,
  ModelProvider,
} from "#kernel/completion/provider.ts";
import type { Egress } from "#kernel/egress/egress.ts";
import { AppError } from "#kernel/errors.ts";
import type { Upstream } from "#kernel/http/route.ts";
import type { Logger } from "#kernel/log.ts";
import { readStream } from "#kernel/upstream/chunk-reader.ts";
import { readText } from "#kernel/upstream/read-text.ts";
import type { Holder } from "./backends/backend.ts";
import type { Backends } from "./backends/backends.ts";
import type { RuntimeClient } from "./backends/client.ts";
import type { RuntimeConfig } from "./config.ts";
import { fromNativeEmbed, toNativeEmbed, toUpstream } from "./request/embeddings.ts";
import { createImageReader } from "./request/images.ts";
import { LineParser } from "./reply/line-parser.ts";
import { createHead, type ReplyHead, toCompletion } from "./reply/reply.ts";
import { toNativeChat } from "./request/request.ts";

/** Id of the provider of the local runtime's models. */
export const providerId = "runtime";

export interface ProviderOptions {
  readonly backends: Backends;
  readonly client: RuntimeClient;
  readonly egress: Egress;
  readonly config: Pick<RuntimeConfig, "enabled">;
  readonly log: Logger;
}

/** The provider with what the runtime surface needs besides. */
export interface RuntimeProvider extends ModelProvider {
  embed: NonNullable<ModelProvider["embed"]>;
  unload: NonNullable<ModelProvider["unload"]>;
  /**
   * The backends that hold a model, in the order in which to try them; only the one of `index` where that is given.
   * Throws `unavailable` while the runtime is switched off, `not_found` when there is none.
   */
  requireHolders(id: string, index?: number): readonly Holder[];
}

const largestAnswer = 64 * 1024 * 1024;

/** Builds the provider of all backends of the local runtime. */
export function createProvider(options: ProviderOptions): RuntimeProvider {
  const { backends, client, config } = options;

  const requireHolders = (id: string, index?: number): readonly Holder[] => {
    if (!config.enabled) {
      throw new AppError("unavailable", "The local model runtime is switched off.");
    }
    const found = backends
      .holders(id)
      .filter(({ backend }) => index === undefined || backend.index === index);
    if (found.length === 0) {
      throw new AppError("not_found", "Model not found");
    }
    return found;
  };

  return {
    id: providerId,
    models: (wanted) => mapMaybe(backends.models(wanted), ({ models }) => models),
    requireHolders,
    messages: ({ id }) => ({
      upstreamId: id,
      passthroughParams: [],
      reasoningKey: "reasoning_content",
      thinkingOff: { think: false },
    }),
    async complete(call) {
      const { request, model, signal } = call;
      const holders = requireHolders(model.id, call.backend);
      const native = await toNativeChat(request, createImageReader(options.egress, signal));
      const toBody = withModelFirst(call.numbers?.()?.restoreAnywhere(native) ?? native);
      const isStream = native.stream;
      const { upstream } = await client.openAny(holders, {
        path: "/api/chat",
        toBody,
        isStream,
        context: call,
      });
      return toAnswer(upstream, call, options);
    },
    async embed({ request, model, ...context }) {
      const holders = requireHolders(model.id);
      const toBody = withModelFirst(toNativeEmbed(request));
      const { upstream } = await client.openAny(holders, { path: "/api/embed", toBody, context });
      const text = await readText(upstream.body, largestAnswer, context.signal);
      return toUpstream(JSON.stringify(fromNativeEmbed(text, model.id, request.encoding_format)));
    },
    async unload({ model, ...context }) {
      // A request without a prompt only sets how long the model stays loaded.
      const body = (id: string) => JSON.stringify({ model: id, prompt: "", keep_alive: 0, stream: false });
      const tries = requireHolders(model.id).map(async ({ backend, upstreamId }) => {
        const call = { path: "/api/generate", body: body(upstreamId), context };
        await readText((await client.open(backend, call)).body, largestAnswer, context.signal);
        await backends.refresh(backend);
      });
      const failed = (await Promise.allSettled(tries)).find(({ status }) => status === "rejected");
      if (failed) {
        throw (failed as PromiseRejectedResult).reason;
      }
    },
  };
}

/** The body is written once; only the model may differ between backends. */
function withModelFirst(body: Readonly<Record<string, unknown>>): (upstreamId: string) => string {
  const text = JSON.stringify(body);
  return (upstreamId) => `{"model":${JSON.stringify(upstreamId)},${text.slice(1)}`;
}

async function toAnswer(
  upstream: Upstream,
  call: CompletionCall,
  options: ProviderOptions,
): Promise<CompletionAnswer> {
  const head = createHead(call.model.id);
  const chunks = (atLeast?: number) =>
    readStream(upstream.body, {
      parser: createParser(head, call, options),
      signal: call.signal,
      atLeast,
    });
  if (call.request.stream === true) {
    return { kind: "stream", stream: { raw: undefined, chunks } };
  }
  if (String(upstream.headers["content-type"] ?? "").includes("ndjson")) {
    return { kind: "whole", completion: await collect(chunks(), head) };
  }
  const text = await readText(upstream.body, largestAnswer, call.signal);
  return { kind: "whole", completion: toCompletion(text, head) };
}

function createParser(head: ReplyHead, { request }: CompletionCall, { log }: ProviderOptions) {
  const logged = new Set<string>();
  return new LineParser({
    head,
    hasUsageChunk: request.stream_options?.["include_usage"] === true,
    // Once a stream and reason: a backend that sends nothing but junk must not fill the log.
    skipped(reason) {
      if (!logged.has(reason)) {
        logged.add(reason);
        log.warn(`lines of the runtime are left out: ${reason}`);
      }
    },
  });
}

/** Puts a stream together, for a backend that streams although a whole answer was asked for. */
async function collect(batches: AsyncIterable<ChunkBatch>, head: ReplyHead): Promise<Completion> {
  const accumulator = createAccumulator();
  for await (const batch of batches) {
    for (const chunk of batch) {
      accumulator.add(chunk);
    }
  }
  const usage = accumulator.usage();
  return {
    ...head,
    object: "chat.completion",
    choices: [
      { index: 0, message: accumulator.message(), finish_reason: accumulator.finishReason() ?? "stop" },
    ],
    ...(usage && { usage }),
  };
}
