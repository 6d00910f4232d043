import { type MaybePromise, mapMaybe } from "#kernel/maybe-promise.ts";
import { isObject, normalizeChunk } from "#kernel/completion/normalize-chunk.ts";
import type { Chunk } from "#kernel/completion/chunk.ts";
import type { ChunkBatch } from "#kernel/completion/provider.ts";
import type { CompletionRequest } from "#kernel/completion/request.ts";
import type { Principal } from "#kernel/access/principal.ts";
import type { Logger } from "#kernel/log.ts";
import type {
  Conversation,
  Filter,
  FilterContext,
  FilterSelection,
  FilterSource,
  StreamGroup,
  StreamHooks,
} from "#kernel/pipeline/filter.ts";
import { toMetadata } from "#plugins/completions/service.ts";
import type { StreamChain } from "#kernel/sandbox.ts";
import type { ActiveFunction, ActiveFunctions, ActiveSet } from "./active.ts";
import type { CallFacts } from "./call-context.ts";
import { toModel } from "./call-context.ts";
import type { Invoke } from "./invoke.ts";

export interface FiltersParts {
  readonly active: ActiveFunctions;
  readonly invoke: Invoke;
  readonly log: Logger;
  /** Ids of functions that wait for the run that is about to begin (host.complete). */
  waiting(): readonly string[];
}

/** Offers the active filter functions to runs: global ones, those of the model, and toggles that were asked for. */
export function createFilterSource(parts: FiltersParts): FilterSource {
  const functions = new WeakMap<Filter, ActiveFunction>();
  const groups = createStreamGroups(parts, functions);
  const made = new WeakMap<ActiveFunction, Filter>();
  const toKnown = (fn: ActiveFunction): Filter => {
    let filter = made.get(fn);
    if (filter === undefined) {
      filter = toFilter(fn, groups, parts.invoke);
      made.set(fn, filter);
      functions.set(filter, fn);
    }
    return filter;
  };
  const choose = (set: ActiveSet, selection: FilterSelection) => {
    if (set.ofType.filter.length === 0) {
      return none;
    }
    const waiting = parts.waiting();
    const chosen = set.ofType.filter.filter((fn) => isInScope(fn, selection) && !waiting.includes(fn.id));
    return chosen.map(toKnown);
  };

  return {
    id: "functions",
    // Without waiting when the functions are in memory, which is nearly always.
    select(selection) {
      const set = parts.active.now();
      return set ? choose(set, selection) : parts.active.current().then((each) => choose(each, selection));
    },
  };
}

const none: readonly Filter[] = [];

/** Whether a function belongs to a model: it is global, or the model's `meta` names it. */
export function isForModel(
  fn: ActiveFunction,
  meta: Readonly<Record<string, unknown>>,
  key: "filterIds" | "actionIds",
): boolean {
  const ids = meta[key];
  return fn.isGlobal || (Array.isArray(ids) && ids.includes(fn.id));
}

function isInScope(fn: ActiveFunction, { modelMeta, filterIds, principal }: FilterSelection): boolean {
  const isChosen = isForModel(fn, modelMeta, "filterIds") || isForGroup(fn, principal);
  return isChosen && (!fn.facts.toggle || filterIds.includes(fn.id));
}

function isForGroup({ groupIds }: ActiveFunction, { groupIds: own }: Principal): boolean {
  return groupIds.size > 0 && own.some((id) => groupIds.has(id));
}

/** A hook that the code does not export does not exist here either: it must cost nothing. */
function toFilter(fn: ActiveFunction, groups: StreamGroups, invoke: Invoke): Filter {
  const { exports } = fn.facts;
  const name = fn.name;
  return {
    id: fn.id,
    name,
    priority: fn.priority,
    tasks: fn.facts.tasks,
    // Code gets JSON.
    isPure: true,
    ...(exports.has("inlet") || fn.facts.fileHandler
      ? { inlet: (request, context) => runInlet(fn, invoke, { request, context }) }
      : {}),
    ...(exports.has("stream") ? { streamGroup: groups.of(fn) } : {}),
    ...(exports.has("outlet")
      ? {
          outlet: (conversation, context, { isRead }) =>
            invoke.call(fn, {
              name: "outlet",
              body: conversation,
              facts: toFacts(context),
              // The request may be over and its caller gone; the conversation is finished all the same.
              signal: undefined,
              discardResult: !isRead,
            }) as Promise<Conversation | undefined>,
        }
      : {}),
  } satisfies Filter;
}

function runInlet(
  fn: ActiveFunction,
  invoke: Invoke,
  { request, context }: { request: CompletionRequest; context: FilterContext },
): MaybePromise<CompletionRequest | undefined> {
  const { exports, fileHandler } = fn.facts;
  const changed = exports.has("inlet")
    ? (invoke.call(fn, {
        name: "inlet",
        body: request,
        facts: toFacts({ ...context, request }),
        signal: context.signal,
      }) as MaybePromise<CompletionRequest | undefined>)
    : undefined;
  return fileHandler ? mapMaybe(changed, (each) => withoutFiles(each ?? request)) : changed;
}

/** Takes the files out of a request that the function has dealt with, so that retrieval skips them (contract 4.2). */
function withoutFiles({ files: _files, ...rest }: CompletionRequest): CompletionRequest {
  const { files: _others, ...notes } = rest.metadata ?? {};
  return { ...rest, ...(rest.metadata ? { metadata: notes } : {}) } as CompletionRequest;
}

/** The facts of a run for the context of hooks. */
function toFacts(context: FilterContext): CallFacts {
  const { request } = context;
  return {
    principal: context.principal,
    model: toModel(context.modelId, context.modelMeta),
    metadata: () => toMetadata(request, context),
    chatId: context.chatId,
    messageId: context.messageId,
    sessionId: context.sessionId,
    files: request.files,
    features: request.features,
    task: context.task,
  };
}

interface StreamGroups {
  of(fn: ActiveFunction): StreamGroup;
}

/** One group an owner: filters of one owner live in one isolate and share one crossing a batch. */
function createStreamGroups(
  { invoke, log }: Pick<FiltersParts, "invoke" | "log">,
  functions: WeakMap<Filter, ActiveFunction>,
): StreamGroups {
  const groups = new Map<string, StreamGroup>();
  const open = async (filters: readonly Filter[], context: FilterContext): Promise<StreamHooks> => {
    // The run keeps the code it was admitted with, even when it changes on the way.
    const own = filters.map((filter) => functions.get(filter)).filter((fn) => fn !== undefined);
    try {
      return toHooks(await invoke.openStream(own, toFacts(context)), log);
    } catch (error) {
      log.warn({ err: error, filters: filters.map(({ id }) => id) }, "stream filters could not be opened");
      return { push: (batch) => batch, close: () => undefined };
    }
  };
  return {
    of({ script }) {
      let group = groups.get(script.owner);
      if (group === undefined) {
        group = { open };
        groups.set(script.owner, group);
      }
      return group;
    },
  };
}

function toHooks(chain: StreamChain, log: Logger): StreamHooks {
  let isBroken = false;
  return {
    push(batch): ChunkBatch | Promise<ChunkBatch> {
      if (isBroken) {
        return batch;
      }
      return chain.push(batch.map((chunk) => JSON.stringify(chunk))).then((texts) => {
        try {
          return texts.map(parseChunk);
        } catch (error) {
          isBroken = true;
          log.warn({ err: error }, "stream filters broke down; they are left out of the rest of this run");
          return batch;
        }
      });
    },
    close: () => chain.close(),
  };
}

/** Throws when the code made something else of a chunk. */
function parseChunk(text: string): Chunk {
  const value: unknown = JSON.parse(text);
  if (!isObject(value)) {
    throw new TypeError("A stream hook made something else of a chunk.");
  }
  return normalizeChunk(value);
}
