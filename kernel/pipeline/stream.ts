import type { Chunk } from "#kernel/completion/chunk.ts";
import type { Logger } from "#kernel/log.ts";
import type { Filter, FilterContext } from "./filter.ts";

/** Takes one chunk through all stream filters; null when one of them dropped it. */
export type ChunkFilter = (chunk: Chunk) => Chunk | null;

/**
 * Joins the stream hooks of `filters` into one function, or undefined when none has such a hook: a run that
 * looks into nothing must not pay for looking. A filter that throws is logged once and left out of the run.
 */
export function toChunkFilter(
  filters: readonly Filter[],
  context: FilterContext,
  log: Logger,
): ChunkFilter | undefined {
  const hooks = filters.filter((filter) => filter.stream !== undefined);
  if (hooks.length === 0) {
    return undefined;
  }
  const failed = new Set<Filter>();
  return (chunk) => {
    let current: Chunk = chunk;
    for (const filter of hooks) {
      if (failed.has(filter)) {
        continue;
      }
      try {
        const next = filter.stream?.(current, context);
        if (next === null) {
          return null;
        }
        // Most filters change the chunk they got; only another value needs a look.
        if (next !== undefined && next !== current) {
          requireChunk(next);
          current = next;
        }
      } catch (error) {
        failed.add(filter);
        log.warn(
          { err: error, filter: filter.id },
          "a stream filter failed; it is left out of the rest of this run",
        );
      }
    }
    return current;
  };
}

/** An async hook gives a promise, which would go out as an empty object. */
function requireChunk(value: unknown): void {
  if (value instanceof Promise) {
    value.catch(() => undefined);
  }
  if (typeof value !== "object" || Array.isArray(value) || value instanceof Promise) {
    throw new TypeError("A stream hook returns a chunk, null or nothing, and is not async.");
  }
}
