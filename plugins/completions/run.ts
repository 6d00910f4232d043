import type { CompletionRequest } from "#kernel/completion/request.ts";
import { createAccumulator, toMessage } from "#kernel/completion/accumulate.ts";
import { mapBatches } from "#kernel/completion/map-batches.ts";
import type { ChunkBatch, ChunkStream, CompletionAnswer } from "#kernel/completion/provider.ts";
import type { Filter, StreamHooks } from "#kernel/pipeline/filter.ts";
import { inStage } from "#kernel/work.ts";
import { hasStreamHooks, openStreamHooks } from "./pipeline/stream.ts";
import { resolveRun } from "./context/resolve.ts";
import { admitModel } from "./request/admit.ts";
import { requireChat } from "./request/chat-access.ts";
import { folderOf, inChat, withPictures } from "./request/chat-context.ts";
import { createDeltaJoiner } from "./reply/join-deltas.ts";
import { createObserver, type Observation } from "./reply/observe.ts";
import { runOutlet } from "./reply/outlet.ts";
import { ignoredOutsideChats, ignoredTools } from "./request/features.ts";
import { prepare } from "./request/prepare.ts";
import { gatherPrompts } from "./request/prompts.ts";
import { openRounds } from "./reply/rounds.ts";
import type { Completions, RunAnswer, RunContext } from "./service.ts";
import { withSources } from "./request/sources.ts";
import { callModel, enterPipeline, outletFilters, type Run, type RunOptions } from "./stages.ts";

/** A run on its way out. */
interface Leaving extends Run {
  /** As the caller sent it. */
  readonly sent: CompletionRequest;
  readonly onOutlet: RunContext["onOutlet"];
  readonly ignored: readonly string[];
}

/** Runs completions in a straight line: admit → prepare → inlet → tools and context → provider → stream filters → deliver → outlet. */
export function createRunner(options: RunOptions): Completions {
  return {
    async run(request, context: RunContext): Promise<RunAnswer> {
      const { principal, signal, model: _known, leftOut, onAsked, onOutlet, text, ...facts } = context;
      const chat = await requireChat(request, principal, options.chats());
      const model = await inStage("admit", () => admitModel(request, context, options));
      const folderId = folderOf(request, chat);
      const isFolderNamed = folderId !== undefined && chat?.folderId === undefined;
      const place = { principal, model, chatId: chat?.id, folderId, isFolderNamed };
      const prompts = folderId === undefined ? [] : await gatherPrompts(options.prompts(), place);
      const pictured = await withPictures(inChat(request, chat), principal, options.pictures());
      const { findProfile } = options;
      const prepared = await prepare(pictured, { model, principal, prompts, leftOut, findProfile });
      const run = await enterPipeline(prepared, { model, options, context: { principal, signal } });
      const around = { place: { ...place, signal }, options };
      const resolved = await inStage("tools", () => resolveRun(request, run, around));
      const { request: asked, sources, ignored, problems } = resolved;
      onAsked?.(asked);
      const answer = await callModel(run, asked, { request, text, ...facts });
      const leaving = {
        ...run,
        sent: request,
        onOutlet,
        ignored: [...ignored, ...ignoredTools(request, problems), ...ignoredOutsideChats(request)],
      };
      return await deliver(leaving, withSources(answer, sources, model.id), options);
    },
    async admit(request, context) {
      const model = await inStage("admit", () => admitModel(request, context, options));
      return { model, open: (asked, place) => openRounds(asked, { model, place, options }) };
    },
  };
}

async function deliver(run: Leaving, answer: CompletionAnswer, options: RunOptions): Promise<RunAnswer> {
  const { ignored } = run;
  const outlets = directOutlets(run, options);
  if (answer.kind === "whole") {
    const { completion } = answer;
    if (outlets.length > 0) {
      void finish(
        run,
        () => ({ usage: completion.usage ?? undefined, message: toMessage(completion) }),
        options,
      );
    }
    return { kind: "whole", completion, text: answer.text, ignored };
  }
  const { raw } = answer.stream;
  if (raw && run.deltaSize <= 1 && !hasStreamHooks(run.filters)) {
    const chunks = () => readChunks(run, answer.stream, { hooks: undefined, options });
    return {
      kind: "raw",
      upstream: raw,
      chunks,
      ignored,
      ...(outlets.length > 0 && watchReply(run, options)),
    };
  }
  const hooks = await openStreamHooks(run.filters, run.context, options.log);
  return { kind: "chunks", ignored, chunks: () => readChunks(run, answer.stream, { hooks, options }) };
}

/** The bytes go out as they came; outlet filters get the reply that they hold afterwards. */
function watchReply(run: Leaving, options: RunOptions) {
  const observer = createObserver();
  return {
    tap: observer.tap,
    settle(error?: Error) {
      if (error === undefined) {
        void finish(run, observer.finish, options);
      }
    },
  };
}

/** Joins and filters each batch on its way; the reply is put together only where an outlet filter will see it. */
function readChunks(
  run: Leaving,
  stream: ChunkStream,
  { hooks, options }: { hooks: StreamHooks | undefined; options: RunOptions },
): AsyncIterable<ChunkBatch> {
  const accumulator = directOutlets(run, options).length > 0 ? createAccumulator() : undefined;
  const joiner = run.deltaSize > 1 ? createDeltaJoiner(run.deltaSize) : undefined;
  const batches = stream.chunks(run.deltaSize);
  if (accumulator === undefined && joiner === undefined && hooks === undefined) {
    return batches;
  }
  const pass = (batch: ChunkBatch): ChunkBatch | undefined => {
    if (accumulator) {
      batch.forEach(accumulator.add);
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
  let isWhole = false;
  return mapBatches(batches, {
    next(batch: ChunkBatch) {
      // Joined first: filters look at what goes out, once a chunk instead of once a token.
      return filter(joiner ? joiner.add(batch) : batch);
    },
    end() {
      isWhole = true;
      return joiner && filter(joiner.end());
    },
    close(error) {
      hooks?.close();
      // A caller who left has half a reply; nothing was completed.
      if (accumulator && isWhole && error === undefined) {
        void finish(run, () => ({ usage: accumulator.usage(), message: accumulator.message() }), options);
      }
    },
  });
}

/** None while ENABLE_API_OUTLET_FILTERS is off; what a chat keeps is filtered whatever it says. */
function directOutlets(run: Leaving, options: RunOptions): readonly Filter[] {
  return options.settings().outletFilters ? outletFilters(run) : [];
}

/** After the answer is out the outlet filters see the conversation. Never throws, whatever the upstream sent. */
async function finish(run: Leaving, observed: () => Observation, options: RunOptions): Promise<void> {
  try {
    const { message, usage } = observed();
    if (message === undefined) {
      return;
    }
    const { sent, context, onOutlet } = run;
    const filters = directOutlets(run, options);
    const isRead = onOutlet?.isHeard() ?? false;
    const outlet = { filters, context, sent, reply: message, usage, isRead };
    const conversation = await inStage("outlet", () => runOutlet(options.pipeline, outlet));
    if (isRead) {
      onOutlet?.tell(conversation);
    }
  } catch (failure) {
    options.log.warn({ err: failure }, "the outlet filters failed");
  }
}
