import type { MaybePromise } from "#kernel/maybe-promise.ts";
import { isObject } from "#kernel/completion/normalize-chunk.ts";
import { AppError, ProviderError } from "#kernel/errors.ts";
import type { CompletionRequest } from "#kernel/completion/request.ts";
import type { Logger } from "#kernel/log.ts";
import {
  type Conversation,
  type Filter,
  type FilterContext,
  type FilterSelection,
  isFilterSource,
  type OwnedFilter,
  type Reading,
} from "#kernel/pipeline/filter.ts";

/** The filters of one run, in order. */
export interface Pipeline {
  /** Chooses and orders: priority ascending, ties by id. */
  choose(selection: FilterSelection): Promise<readonly Filter[]> | readonly Filter[];
  /** Runs inlet hooks one after another; an error ends the request with its message. At once where there are none. */
  inlet(
    filters: readonly Filter[],
    request: CompletionRequest,
    context: FilterContext,
  ): MaybePromise<CompletionRequest>;
  /**
   * Runs outlet hooks; an error is logged and the last good value kept. Where nobody reads what comes of it, the last
   * hook is told so.
   */
  outlet(
    filters: readonly Filter[],
    conversation: Conversation,
    context: FilterContext,
    reading?: Reading,
  ): Promise<Conversation>;
}

/** Builds the pipeline over everything plugins contributed. */
export function createPipeline(owned: readonly OwnedFilter[], log: Logger): Pipeline {
  return {
    choose(selection) {
      // The common case has native filters only and stays free of promises.
      const chosen: Filter[] = [];
      const pending: Promise<readonly Filter[]>[] = [];
      for (const { entry, isEnabled } of owned) {
        if (!isEnabled()) {
          continue;
        }
        if (!isFilterSource(entry)) {
          chosen.push(entry);
          continue;
        }
        const selected = entry.select(selection);
        if (selected instanceof Promise) {
          pending.push(selected);
        } else {
          chosen.push(...selected);
        }
      }
      const toWanted = (filters: readonly Filter[]) =>
        toOrdered(selection.task === undefined ? filters : filters.filter(({ tasks }) => tasks));
      return pending.length === 0
        ? toWanted(chosen)
        : Promise.all(pending).then((more) => toWanted([...chosen, ...more.flat()]));
    },

    inlet(filters, request, context) {
      const hooked = filters.filter((filter) => filter.inlet);
      const [first, ...others] = hooked;
      if (first === undefined) {
        return request;
      }
      const next = runInlet(first, request, context);
      return others.length === 0 ? next : next.then((each) => runInlets(others, each, context));
    },

    async outlet(filters, conversation, context, { isRead } = read) {
      let current = conversation;
      const last = isRead ? undefined : filters.findLast((filter) => filter.outlet);
      for (const filter of filters) {
        if (!filter.outlet) {
          continue;
        }
        try {
          const reading = filter === last ? unread : read;
          const next = (await filter.outlet(toOwn(filter, current), context, reading)) ?? current;
          if (!Array.isArray(next.messages)) {
            throw new TypeError("An outlet hook returns the conversation or nothing.");
          }
          current = next;
        } catch (error) {
          log.warn({ err: error, filter: filter.id }, "an outlet filter failed; its change is left out");
        }
      }
      return current;
    },
  };
}

const read: Reading = { isRead: true };
const unread: Reading = { isRead: false };

async function runInlets(
  filters: readonly Filter[],
  request: CompletionRequest,
  context: FilterContext,
): Promise<CompletionRequest> {
  let current = request;
  for (const filter of filters) {
    current = await runInlet(filter, current, context);
  }
  return current;
}

async function runInlet(
  filter: Filter,
  request: CompletionRequest,
  context: FilterContext,
): Promise<CompletionRequest> {
  try {
    const next = (await filter.inlet?.(toOwn(filter, request), context)) ?? request;
    if (!isRequest(next)) {
      throw new TypeError(`The filter ${filter.name} returned something that is no request.`);
    }
    return next;
  } catch (error) {
    if (error instanceof AppError || error instanceof ProviderError) {
      throw error;
    }
    const message =
      error instanceof Error && error.message !== ""
        ? error.message
        : `The filter ${filter.name} refused the request.`;
    throw new AppError("invalid", message, { cause: error });
  }
}

/** Looks no deeper than the stages behind it rely on: every filtered request pays for it. */
function isRequest({ model, messages, tools, tool_ids: toolIds }: CompletionRequest): boolean {
  return (
    typeof model === "string" &&
    Array.isArray(messages) &&
    messages.every((message) => isObject(message) && typeof message["role"] === "string") &&
    isList(tools) &&
    isList(toolIds)
  );
}

function isList(value: unknown): boolean {
  return value === undefined || value === null || Array.isArray(value);
}

/** What a hook gets is its own, so that one that fails halfway leaves nothing changed. */
function toOwn<T>({ isPure }: Filter, value: T): T {
  return isPure ? value : structuredClone(value);
}

function toOrdered(filters: readonly Filter[]): readonly Filter[] {
  return filters.toSorted((a, b) => a.priority - b.priority || (a.id < b.id ? -1 : 1));
}
