import { AppError } from "#kernel/errors.ts";
import type { Json } from "#kernel/sandbox/sandbox.ts";
import type { ChannelEnds } from "#kernel/sockets/hub.ts";
import { createFrameReader } from "./frames.ts";

/** The items of one answer, in the order in which they came. */
export interface Arrivals extends ChannelEnds, AsyncIterable<Json> {
  /** Nothing is waited for any more; what has come is still read. */
  fail(error: unknown): void;
}

/** A client that sends faster than its answer is read may be so many characters ahead. */
const mostWaiting = 16 * 1024 * 1024;

/** Keeps what comes over a channel until it is read. A client that says nothing for `idleTimeout` seconds has failed. */
export function createArrivals(idleTimeout: () => number | null): Arrivals {
  const read = createFrameReader();
  const waiting: { readonly item: Json; readonly length: number }[] = [];
  let length = 0;
  let ending: { readonly error: unknown } | undefined;
  let wake = Promise.withResolvers<void>();
  const finish = (error: unknown) => {
    ending ??= { error };
    wake.resolve();
  };
  return {
    take(data) {
      const frame = ending ? undefined : read(data);
      if (frame === "end") {
        finish(undefined);
      } else if (frame) {
        const own = typeof data === "string" ? data.length : JSON.stringify(data).length;
        waiting.push({ item: frame.item, length: own });
        length += own;
        if (length > mostWaiting) {
          finish(new AppError("limit", "The client sends faster than its answer is read."));
        }
        wake.resolve();
      }
    },
    gone: () => finish(new AppError("unavailable", "Client session disconnected.")),
    fail: finish,
    async *[Symbol.asyncIterator]() {
      for (;;) {
        const next = waiting.shift();
        if (next) {
          length -= next.length;
          yield next.item;
        } else if (ending) {
          if (ending.error !== undefined) {
            throw ending.error;
          }
          return;
        } else {
          wake = Promise.withResolvers<void>();
          const seconds = idleTimeout();
          const silent =
            seconds === null
              ? undefined
              : setTimeout(
                  () => finish(new AppError("timeout", "The client stopped sending the answer.")),
                  seconds * 1000,
                );
          await wake.promise.finally(() => clearTimeout(silent));
        }
      }
    },
  };
}
