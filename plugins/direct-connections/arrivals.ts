import { AppError } from "#kernel/errors.ts";
import type { Json } from "#kernel/sandbox.ts";
import type { ChannelEnds } from "#kernel/sockets/hub.ts";
import { createFrameReader } from "./frames.ts";

/** The buffer of one streamed answer: its items in the order of arrival. */
export interface Arrivals extends ChannelEnds, AsyncIterable<Json> {
  /** Ends the stream with an error after the buffered items. */
  fail(error: unknown): void;
}

/** Characters that may be buffered for a slow reader. */
const maxBufferedLength = 16 * 1024 * 1024;
/** Memory of an item besides its characters. */
const itemSize = 256;

interface Waiting {
  readonly items: readonly Json[];
  readonly size: number;
}

/** Buffers the events of a channel until they are read. A client that is silent for `idleTimeout` seconds has failed. */
export function createArrivals(idleTimeout: () => number | null): Arrivals {
  const read = createFrameReader();
  let waiting: Waiting[] = [];
  let size = 0;
  let ending: { readonly error: unknown } | undefined;
  let wake = Promise.withResolvers<void>();
  const finish = (error: unknown) => {
    ending ??= { error };
    wake.resolve();
  };
  const add = (data: unknown) => {
    const frames = read(data);
    const items = frames.flatMap((frame) => (frame === "end" ? [] : [frame.item]));
    if (items.length > 0) {
      const length = typeof data === "string" ? data.length : JSON.stringify(data).length;
      const own = length + items.length * itemSize;
      waiting.push({ items, size: own });
      size += own;
    }
    if (size > maxBufferedLength) {
      waiting = [];
      throw new AppError("rate_limited", "The client sends faster than its answer is read.");
    }
    if (frames.includes("end")) {
      finish(undefined);
    }
    wake.resolve();
  };
  return {
    onData(data) {
      try {
        if (!ending) {
          add(data);
        }
      } catch (error) {
        finish(error);
      }
    },
    onGone: () => finish(new AppError("unavailable", "Client session disconnected.")),
    fail: finish,
    async *[Symbol.asyncIterator]() {
      for (;;) {
        const ready = waiting;
        waiting = [];
        for (const next of ready) {
          for (const item of next.items) {
            yield item;
          }
          size -= next.size;
        }
        if (waiting.length > 0) {
          continue;
        }
        if (ending) {
          if (ending.error !== undefined) {
            throw ending.error;
          }
          return;
        }
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
    },
  };
}
