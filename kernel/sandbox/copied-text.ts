import type ivm from "isolated-vm";

/**
 * Hands one long text in and takes one out, each in a list of its own, and returns it; undefined hands nothing in.
 *
 * A list is copied from heap to heap. A text by itself is not: it lies outside of both, and only a full collection frees
 * it. Where texts cross all the time, hundreds of megabytes would wait for one, and the isolate would come to its limit
 * every few seconds, where it collects everything twice. Throws what the isolate throws.
 */
export function applyCopied(way: ivm.Reference, text: string | undefined, timeout: number): string {
  const args = text === undefined ? [] : [[text]];
  const answer: unknown = way.applySync(undefined, args, {
    timeout,
    arguments: { copy: true },
    result: { copy: true },
  });
  return Array.isArray(answer) ? String(answer[0]) : "";
}
