import type ivm from "isolated-vm";

/** A list as it crosses: texts and numbers. */
export type Copied = readonly (string | number)[];

/**
 * Hands a list in, takes a list out; undefined hands nothing in.
 *
 * A list is copied from heap to heap. A text by itself is not: it lies outside of both, and only a full collection frees
 * it. Where texts cross all the time, hundreds of megabytes would wait for one, and the isolate would come to its limit
 * every few seconds, where it collects everything twice. Throws what the isolate throws.
 */
export function applyCopied(way: ivm.Reference, list: Copied | undefined, timeout: number): Copied {
  const args = list === undefined ? [] : [list];
  const answer: unknown = way.applySync(undefined, args, {
    timeout,
    arguments: { copy: true },
    result: { copy: true },
  });
  return Array.isArray(answer) ? (answer as Copied) : [];
}
