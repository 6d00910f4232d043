import type { Principal } from "#kernel/access/principal.ts";
import { ExactNumbers } from "#kernel/completion/exact-numbers.ts";
import type { CompletionAnswer } from "#kernel/completion/provider.ts";
import type { CompletionRequest } from "#kernel/completion/request.ts";
import type { Logger } from "#kernel/log.ts";
import type { Filter, FilterContext } from "#kernel/pipeline/filter.ts";
import { inStage } from "#kernel/work.ts";
import type { ResolvedModel } from "#plugins/models/service.ts";
import type { Pipeline } from "./pipeline/pipeline.ts";
import type { Admission } from "./request/admit.ts";
import { toModelIds } from "./request/model-ids.ts";
import { toProviderRequest, withUsage } from "./request/parameters.ts";
import type { FindProfile } from "./request/prepare.ts";
import type { ChatAccess } from "./request/chat-access.ts";
import type { SourcePlacement } from "./request/sources.ts";
import type { ContextSource, MessagePictures, PromptSource } from "./service.ts";
import type { ToolsStage } from "./tools/tools.ts";
import { type VoiceSettings, withVoicePrompt } from "./media/voice.ts";

export interface RunOptions extends Admission {
  readonly pipeline: Pipeline;
  readonly log: Logger;
  readonly findProfile: FindProfile;
  readonly tools: ToolsStage;
  chats(): readonly ChatAccess[];
  pictures(): readonly MessagePictures[];
  prompts(): readonly PromptSource[];
  contexts(): readonly ContextSource[];
  settings(): VoiceSettings &
    SourcePlacement & { readonly outletFilters: boolean; readonly deltaChunkSize: number };
}

/** One completion on its way: what every stage after inlet needs. */
export interface Run {
  readonly request: CompletionRequest;
  readonly model: ResolvedModel;
  readonly filters: readonly Filter[];
  readonly context: FilterContext;
  /** Smallest number of text deltas in one chunk. */
  readonly deltaSize: number;
}

interface Entering {
  readonly model: ResolvedModel;
  readonly options: Pick<RunOptions, "pipeline" | "settings">;
  readonly context: { readonly principal: Principal; readonly signal: AbortSignal };
}

/** Chooses the filters of a run and takes its request through their inlets. */
export async function enterPipeline(
  request: CompletionRequest,
  { model, options, context }: Entering,
): Promise<Run> {
  const facts: FilterContext = {
    ...context,
    modelId: model.id,
    modelMeta: model.meta,
    chatId: request.chat_id ?? undefined,
    messageId: request.id ?? undefined,
    sessionId: request.session_id ?? undefined,
    metadata: request.metadata ?? {},
    request,
  };
  const filters = await options.pipeline.choose({
    ...facts,
    principal: context.principal,
    modelIds: toModelIds(model),
    filterIds: request.filter_ids ?? [],
  });
  const filtered = await inStage("inlet", async () => options.pipeline.inlet(filters, request, facts));
  return {
    request: withVoicePrompt(filtered, options.settings()),
    model,
    filters,
    context: Object.freeze({ ...facts, metadata: filtered.metadata ?? {}, request: filtered }),
    deltaSize: Math.max(
      options.settings().deltaChunkSize,
      toSize(model.params["stream_delta_chunk_size"]),
      toSize(request.params?.["stream_delta_chunk_size"]),
    ),
  };
}

/** What the caller sent, where a provider may be told more than the request says. */
export interface Sent {
  /** The request as it came in; together with `text` it may be sent on as it is. */
  readonly request?: CompletionRequest;
  readonly text?: string | undefined;
  readonly numbers?: ExactNumbers | undefined;
  readonly userAgent?: string | undefined;
  readonly backend?: number | undefined;
  readonly userMessageId?: string | undefined;
  readonly userMessageParentId?: string | undefined;
}

/** One model call of a run. */
export function callModel(
  run: Run,
  asked: CompletionRequest,
  { request, text, numbers: exact, ...facts }: Sent,
): Promise<CompletionAnswer> {
  const { model, context } = run;
  const upstreamRequest = withUsage(toProviderRequest(asked), hasUsageCapability(model));
  const numbers = () => exact ?? ExactNumbers.read(text);
  const hasItsModel = upstreamRequest.model === model.base.id;
  const known = upstreamRequest === request ? text : undefined;
  return model.provider.complete({
    ...facts,
    request: hasItsModel ? upstreamRequest : { ...upstreamRequest, model: model.base.id },
    text: hasItsModel ? known : undefined,
    numbers,
    model: model.base,
    principal: context.principal,
    signal: context.signal,
    chatId: context.chatId,
    messageId: context.messageId,
    sessionId: context.sessionId,
    asked: run.request,
    named: { id: model.id, meta: model.meta },
  });
}

/** The filters that see the finished conversation. */
export function outletFilters(run: Run): readonly Filter[] {
  return run.filters.filter((filter) => filter.outlet !== undefined);
}

function hasUsageCapability(model: ResolvedModel): boolean {
  // Absent capabilities are on; this one has to be switched on.
  return (model.meta["capabilities"] as Record<string, unknown> | undefined)?.["usage"] === true;
}

function toSize(value: unknown): number {
  return typeof value === "number" && Number.isInteger(value) && value > 0 ? value : 1;
}
