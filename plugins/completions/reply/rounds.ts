import { mapBatches } from "#kernel/completion/map-batches.ts";
import type { ChunkBatch } from "#kernel/completion/provider.ts";
import type { CompletionRequest } from "#kernel/completion/request.ts";
import { streamCompletion } from "#kernel/completion/stream-completion.ts";
import type { StreamHooks } from "#kernel/pipeline/filter.ts";
import { inStage } from "#kernel/work.ts";
import { openStreamHooks } from "../pipeline/stream.ts";
import type { ResolvedModel } from "#plugins/models/service.ts";
import type { Tool } from "#kernel/tools/tool.ts";
import { type ResolvedRun, resolveRun } from "../context/resolve.ts";
import { toDefinitions } from "../tools/native-tools.ts";
import { createDeltaJoiner } from "./join-deltas.ts";
import { prepare } from "../request/prepare.ts";
import { gatherPrompts } from "../request/prompts.ts";
import type { OpenRun, RunPlace } from "../service.ts";
import { callModel, enterPipeline, outletFilters, type Run, type RunOptions } from "../stages.ts";

/** Takes an admitted run through preparation, inlet, tools and context; what follows are model calls, as many as it needs. */
export async function openRounds(
  request: CompletionRequest,
  { model, place, options }: { model: ResolvedModel; place: RunPlace; options: RunOptions },
): Promise<OpenRun> {
  const { principal, signal, agent, ...facts } = place;
  const { findProfile } = options;
  const { folderId, isFolderNamed = false } = place;
  const about = {
    principal,
    model,
    chatId: request.chat_id ?? undefined,
    folderId,
    isFolderNamed,
    terminalId: request.terminal_id ?? undefined,
  };
  const prompts = agent ? [agent.instructions] : await gatherPrompts(options.prompts(), about);
  const prepared = await prepare(request, { model, principal, findProfile, prompts });
  const run = await enterPipeline(prepared, { model, options, context: { principal, signal } });
  const { onStatus } = place;
  const resolved = agent
    ? ofAgent(run, agent.tools)
    : await inStage("tools", () =>
        resolveRun(request, run, { place: { ...about, signal, onStatus }, options }),
      );
  const asked = resolved.request;
  // The valves of stream filters are read once a reply, however many rounds it takes.
  let hooks: Promise<StreamHooks | undefined> | undefined;
  return {
    model,
    request: asked,
    tools: resolved.tools,
    sources: resolved.sources,
    shown: resolved.shown,
    problems: resolved.problems,
    ignored: resolved.ignored,
    async call(messages) {
      hooks ??= openStreamHooks(run.filters, run.context, options.log);
      const opened = await hooks;
      const answer = await callModel(run, { ...asked, messages: [...messages] }, facts);
      const batches =
        answer.kind === "whole" ? streamCompletion(answer.completion) : answer.stream.chunks(run.deltaSize);
      return throughHooks(batches, run, opened);
    },
    async outlet(gather) {
      const filters = outletFilters(run);
      return filters.length === 0
        ? undefined
        : await inStage("outlet", async () => options.pipeline.outlet(filters, await gather(), run.context));
    },
    async close() {
      (await hooks)?.close();
    },
  };
}

/** The tools of an agent in place of those that the platform would offer. */
function ofAgent({ request }: Run, tools: readonly Tool[]): ResolvedRun {
  const own = { ...request, tools: toDefinitions(tools) };
  return { request: own, tools, sources: undefined, shown: [], problems: [], ignored: [] };
}

function throughHooks(
  batches: AsyncIterable<ChunkBatch>,
  { deltaSize }: Pick<Run, "deltaSize">,
  hooks: StreamHooks | undefined,
): AsyncIterable<ChunkBatch> {
  const joiner = deltaSize > 1 ? createDeltaJoiner(deltaSize) : undefined;
  if (joiner === undefined && hooks === undefined) {
    return batches;
  }
  const filter = (batch: ChunkBatch) => (hooks && batch.length > 0 ? hooks.push(batch) : batch);
  return mapBatches(batches, {
    next: (batch: ChunkBatch) => filter(joiner ? joiner.add(batch) : batch),
    end: () => joiner && filter(joiner.end()),
  });
}
