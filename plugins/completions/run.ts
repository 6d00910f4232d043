import type { CompletionMessage, Usage } from "#kernel/completion/chunk.ts";
import { createAccumulator, toMessage } from "#kernel/completion/accumulate.ts";
import { mapBatches } from "#kernel/completion/map-batches.ts";
import type { ChunkBatch, ChunkStream, CompletionAnswer } from "#kernel/completion/provider.ts";
import type { CompletionRequest } from "#kernel/completion/request.ts";
import type { Upstream } from "#kernel/http/route.ts";
import type { Logger } from "#kernel/log.ts";
import type { Filter, FilterContext, StreamHooks } from "#kernel/pipeline/filter.ts";
import type { Pipeline } from "#kernel/pipeline/pipeline.ts";
import { hasStreamHooks, openStreamHooks } from "#kernel/pipeline/stream.ts";
import type { Models, ResolvedModel } from "#plugins/models/service.ts";
import { admit } from "./admit.ts";
import { createDeltaJoiner } from "./join-deltas.ts";
import { toModelIds } from "./model-ids.ts";
import { createObserver } from "./observe.ts";
import { runOutlet } from "./outlet.ts";
import { toProviderRequest, withUsage } from "./parameters.ts";
import { type FindProfile, prepare } from "./prepare.ts";
import type {
  ChatAccess,
  Completions,
  RunAnswer,
  RunContext,
  RunFinished,
  TerminalAccess,
} from "./service.ts";
import { withSources } from "./sources.ts";
import type { ToolsStage } from "./tools.ts";

export interface RunOptions {
  readonly models: Models;
  readonly pipeline: Pipeline;
  readonly log: Logger;
  readonly findProfile: FindProfile;
  readonly tools: ToolsStage;
  chats(): readonly ChatAccess[];
  terminals(): readonly TerminalAccess[];
  settings(): { readonly outletFilters: boolean; readonly deltaChunkSize: number };
  finished(run: RunFinished): void;
}

/** One completion on its way: what every stage after inlet needs. */
interface Run {
  readonly request: CompletionRequest;
  readonly model: ResolvedModel;
  readonly filters: readonly Filter[];
  readonly context: FilterContext;
  /** Smallest number of text deltas in one chunk. */
  readonly deltaSize: number;
}

/** What is known of the reply when the run ends. */
interface Outcome {
  readonly usage: Usage | undefined;
  readonly message: CompletionMessage | undefined;
  readonly error?: unknown;
}

/** Runs completions in a straight line: admit → prepare → inlet → tools → provider → stream filters → deliver → outlet. */
export function createRunner(options: RunOptions): Completions {
  return {
    async run(request, { principal, signal, userAgent, text }: RunContext): Promise<RunAnswer> {
      const model = await admit(request, {
        principal,
        models: options.models,
        chats: options.chats(),
        terminals: options.terminals(),
      });
      const prepared = await prepare(request, { model, principal, findProfile: options.findProfile });
      const run = await enterPipeline(prepared, { model, options, context: { principal, signal } });
      const resolving = options.tools.resolve(request, run);
      const resolved = resolving && (await resolving);
      const asked = resolved?.request ?? run.request;
      const upstreamRequest = withUsage(toProviderRequest(asked), hasUsageCapability(model));
      const isUntouched = upstreamRequest === request && request.model === model.base.id;
      const answer = await model.provider.complete({
        request: isUntouched ? request : { ...upstreamRequest, model: model.base.id },
        text: isUntouched ? text : undefined,
        model: model.base,
        principal,
        signal,
        userAgent,
        chatId: run.context.chatId,
        messageId: run.context.messageId,
        sessionId: run.context.sessionId,
        files: run.request.files,
        features: run.request.features,
      });
      return deliver(run, withSources(answer, resolved?.sources, model.id), options);
    },
  };
}

async function enterPipeline(
  request: CompletionRequest,
  {
    model,
    options,
    context,
  }: { model: ResolvedModel; options: RunOptions; context: Pick<RunContext, "principal" | "signal"> },
): Promise<Run> {
  const facts: FilterContext = {
    ...context,
    modelId: model.id,
    modelMeta: model.meta,
    chatId: request.chat_id ?? undefined,
    messageId: request.id ?? undefined,
    sessionId: request.session_id ?? undefined,
    metadata: request.metadata ?? {},
  };
  const chosen = options.pipeline.choose({
    ...facts,
    principal: context.principal,
    modelIds: toModelIds(model),
    filterIds: request.filter_ids ?? [],
  });
  const filters = chosen instanceof Promise ? await chosen : chosen;
  const filtered = filters.length === 0 ? request : await options.pipeline.inlet(filters, request, facts);
  return {
    request: filtered,
    model,
    filters,
    context: Object.freeze({ ...facts, metadata: filtered.metadata ?? {} }),
    deltaSize: Math.max(
      options.settings().deltaChunkSize,
      toSize(model.params["stream_delta_chunk_size"]),
      toSize(request.params?.["stream_delta_chunk_size"]),
    ),
  };
}

async function deliver(run: Run, answer: CompletionAnswer, options: RunOptions): Promise<RunAnswer> {
  if (answer.kind === "whole") {
    const { completion } = answer;
    void finish(run, { usage: completion.usage ?? undefined, message: toMessage(completion) }, options);
    return { kind: "whole", completion, text: answer.text };
  }
  const { raw } = answer.stream;
  if (raw && run.deltaSize <= 1 && !hasStreamHooks(run.filters)) {
    const chunks = () => readChunks(run, answer.stream, { hooks: undefined, options });
    return { ...passOn(run, raw, options), chunks };
  }
  const hooks = await openStreamHooks(run.filters, run.context, options.log);
  return { kind: "chunks", chunks: () => readChunks(run, answer.stream, { hooks, options }) };
}

/** Nothing looks into the stream: its bytes go out as they came, and are read afterwards for usage alone. */
function passOn(run: Run, upstream: Upstream, options: RunOptions) {
  const observer = createObserver(outletFilters(run, options).length > 0);
  return {
    kind: "raw" as const,
    upstream,
    tap: observer.tap,
    settle: (error?: Error) => void finish(run, { ...observer.conclude(), error }, options),
  };
}

/** Joins and filters each batch on its way; the reply is put together only where an outlet filter will see it. */
function readChunks(
  run: Run,
  stream: ChunkStream,
  { hooks, options }: { hooks: StreamHooks | undefined; options: RunOptions },
): AsyncIterableIterator<ChunkBatch> {
  const accumulator = outletFilters(run, options).length > 0 ? createAccumulator() : undefined;
  const joiner = run.deltaSize > 1 ? createDeltaJoiner(run.deltaSize) : undefined;
  let usage: Usage | undefined;
  const pass = (batch: ChunkBatch): ChunkBatch | undefined => {
    for (const chunk of batch) {
      usage = chunk.usage ?? usage;
      accumulator?.add(chunk);
    }
    return batch.length > 0 ? batch : undefined;
  };
  const filter = (batch: ChunkBatch) => {
    if (hooks === undefined || batch.length === 0) {
      return pass(batch);
    }
    const kept = hooks.push(batch);
    return kept instanceof Promise ? kept.then(pass) : pass(kept);
  };
  return mapBatches(stream.chunks(run.deltaSize), {
    next(batch: ChunkBatch) {
      // Joined first: filters look at what goes out, once a chunk instead of once a token.
      return filter(joiner ? joiner.add(batch) : batch);
    },
    end: () => joiner && filter(joiner.end()),
    close(error) {
      hooks?.close();
      void finish(run, { usage, message: accumulator?.message(), error }, options);
    },
  });
}

/** After the answer is out: usage is announced, then the outlet filters see the conversation. Never throws. */
async function finish(run: Run, outcome: Outcome, options: RunOptions): Promise<void> {
  const { principal } = run.context;
  const error = outcome.error instanceof Error ? outcome.error.message : undefined;
  options.finished({ userId: principal.userId, modelId: run.model.id, usage: outcome.usage, error });
  const filters = outletFilters(run, options);
  if (filters.length === 0 || outcome.message === undefined || outcome.error !== undefined) {
    return;
  }
  try {
    const { request, context } = run;
    await runOutlet(options.pipeline, {
      filters,
      context,
      request,
      reply: outcome.message,
      usage: outcome.usage,
    });
  } catch (failure) {
    options.log.warn({ err: failure }, "the outlet filters failed");
  }
}

function outletFilters(run: Run, options: RunOptions): readonly Filter[] {
  return options.settings().outletFilters ? run.filters.filter((filter) => filter.outlet !== undefined) : [];
}

function hasUsageCapability(model: ResolvedModel): boolean {
  // Absent capabilities are on; this one has to be switched on.
  return (model.meta["capabilities"] as Record<string, unknown> | undefined)?.["usage"] === true;
}

function toSize(value: unknown): number {
  return typeof value === "number" && Number.isInteger(value) && value > 0 ? value : 1;
}
