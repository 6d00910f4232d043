import type ivm from "isolated-vm";

/**
 * Hands a list of texts in, takes a list of texts out; undefined hands nothing in.
 *
 * A list is copied from heap to heap. A text by itself is not: it lies outside of both, and only a full collection frees
 * it. Where texts cross all the time, hundreds of megabytes would wait for one, and the isolate would come to its limit
 * every few seconds, where it collects everything twice. Throws what the isolate throws.
 */
export function applyCopied(
  way: ivm.Reference,
  texts: readonly string[] | undefined,
  timeout: number,
): readonly string[] {
  const args = texts === undefined ? [] : [texts];
  const answer: unknown = way.applySync(undefined, args, {
    timeout,
    arguments: { copy: true },
    result: { copy: true },
  });
  return Array.isArray(answer) ? (answer as string[]) : [];
}
