import type { Chunk } from "#kernel/completion/chunk.ts";
import { isObject, normalizeChunk } from "#kernel/completion/normalize-chunk.ts";
import type { Logger } from "#kernel/log.ts";
import type { Filter, FilterContext, StreamGroup, StreamHooks } from "#kernel/pipeline/filter.ts";

/**
 * Opens the stream hooks of `filters` as one, or gives undefined when none has such a hook: a run that looks into
 * nothing must not pay for looking. Neighbours of one group are opened together. What fails is logged once and left
 * out of the run.
 */
export async function openStreamHooks(
  filters: readonly Filter[],
  context: FilterContext,
  log: Logger,
): Promise<StreamHooks | undefined> {
  const stages: StreamHooks[] = [];
  for (const { group, members } of toNeighbours(filters)) {
    if (group === undefined) {
      stages.push(openNative(members, context, log));
      continue;
    }
    try {
      stages.push(await group.open(members, context));
    } catch (error) {
      const ids = members.map(({ id }) => id);
      log.warn(
        { err: error, filters: ids },
        "stream filters cannot be opened; they are left out of this run",
      );
    }
  }
  return stages.length > 1 ? inOrder(stages) : stages[0];
}

/** Whether any of `filters` looks into the stream. */
export function hasStreamHooks(filters: readonly Filter[]): boolean {
  return filters.some((filter) => filter.stream !== undefined || filter.streamGroup !== undefined);
}

interface Neighbours {
  readonly group: StreamGroup | undefined;
  readonly members: Filter[];
}

function toNeighbours(filters: readonly Filter[]): Neighbours[] {
  const all: Neighbours[] = [];
  for (const filter of filters.filter((each) => hasStreamHooks([each]))) {
    const last = all.at(-1);
    if (last && last.group === filter.streamGroup) {
      last.members.push(filter);
    } else {
      all.push({ group: filter.streamGroup, members: [filter] });
    }
  }
  return all;
}

function inOrder(stages: readonly StreamHooks[]): StreamHooks {
  return {
    push: (batch) =>
      stages.reduce<ReturnType<StreamHooks["push"]>>(
        (current, stage) =>
          current instanceof Promise ? current.then((each) => stage.push(each)) : stage.push(current),
        batch,
      ),
    close: () => stages.forEach((stage) => stage.close()),
  };
}

function openNative(filters: readonly Filter[], context: FilterContext, log: Logger): StreamHooks {
  let hooks = filters;
  const pass = (chunk: Chunk): Chunk | null => {
    let current = chunk;
    for (const filter of hooks) {
      try {
        const next = filter.stream?.(current, context);
        if (next === null) {
          return null;
        }
        // Most filters change the chunk they got; only another value needs a look.
        if (next !== undefined && next !== current) {
          current = requireChunk(next);
        }
      } catch (error) {
        hooks = hooks.filter((each) => each !== filter);
        log.warn(
          { err: error, filter: filter.id },
          "a stream filter failed; it is left out of the rest of this run",
        );
      }
    }
    return current;
  };
  return {
    push(batch) {
      const kept: Chunk[] = [];
      for (const chunk of batch) {
        const passed = pass(chunk);
        if (passed !== null) {
          kept.push(passed);
        }
      }
      return kept;
    },
    close: () => {},
  };
}

/** An async hook gives a promise, which would go out as an empty object. */
function requireChunk(value: unknown): Chunk {
  if (value instanceof Promise) {
    value.catch(() => undefined);
  }
  if (!isObject(value) || value instanceof Promise) {
    throw new TypeError("A stream hook returns a chunk, null or nothing, and is not async.");
  }
  return normalizeChunk(value);
}
