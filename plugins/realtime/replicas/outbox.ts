import { AsyncLocalStorage } from "node:async_hooks";
import { setTimeout as pause } from "node:timers/promises";

export interface OutboxOptions {
  /** Sends one text; a rejection is answered by sending it again. */
  send(text: string): Promise<void>;
  /** Puts lines into one text; numbers count from 1, so that what came twice and what is missing can be told. */
  pack(lines: readonly string[], number: number): string;
  log(message: string): void;
  /** Characters that may wait while nothing can be sent. */
  readonly limit?: number;
}

/** The queue of outgoing lines, in order. */
export interface Outbox {
  push(line: string): void;
  /** Backpressure: resolves when the queue has room; undefined while it has. */
  whenWritable(): Promise<void> | undefined;
  /** Resolves when nothing waits, or after `ms`. */
  drained(ms: number): Promise<void>;
}

const batchLength = 256 * 1024;
const firstPauseMs = 50;
const longestPauseMs = 1_000;

/**
 * Batches lines into texts and sends one text after another: a batch holds the lines of one event loop turn, or those
 * queued while a text was being sent. While sending fails, lines wait up to a limit; beyond it they are lost, and a number
 * is skipped so that the other replicas notice.
 */
export function createOutbox({ send, pack, log, limit = 8 * 1024 * 1024 }: OutboxOptions): Outbox {
  // The emitter may be inside a transaction; sending must not be.
  const outside = AsyncLocalStorage.snapshot();
  let lines: string[] = [];
  let length = 0;
  let number = 0;
  let lost = 0;
  let running: Promise<void> | undefined;
  let writable: PromiseWithResolvers<void> | undefined;

  const dequeue = (): string[] => {
    let end = 0;
    for (
      let taken = 0;
      end < lines.length && (end === 0 || taken + lines[end]!.length <= batchLength);
      end++
    ) {
      taken += lines[end]!.length;
    }
    const batch = lines.slice(0, end);
    lines = lines.slice(end);
    length -= batch.reduce((sum, line) => sum + line.length, 0);
    if (length <= limit / 2) {
      writable?.resolve();
      writable = undefined;
    }
    return batch;
  };
  const deliver = async (text: string): Promise<void> => {
    for (let wait = firstPauseMs; ; wait = Math.min(wait * 2, longestPauseMs)) {
      try {
        await send(text);
        return;
      } catch (error) {
        if (wait === firstPauseMs) {
          log(`Events cannot reach the other replicas (${(error as Error).message}); trying again`);
        }
        await pause(wait, undefined, { ref: false });
      }
    }
  };
  const run = async (): Promise<void> => {
    await new Promise((resolve) => setImmediate(resolve));
    while (lines.length > 0) {
      if (lost > 0) {
        log(`${lost} events did not reach the other replicas`);
        lost = 0;
        number += 1;
      }
      await deliver(pack(dequeue(), (number += 1)));
    }
    running = undefined;
  };
  return {
    push(line) {
      if (length + line.length > limit) {
        lost += 1;
        return;
      }
      lines.push(line);
      length += line.length;
      running ??= outside(run);
    },
    whenWritable() {
      if (length > limit / 2) {
        writable ??= Promise.withResolvers();
      }
      return writable?.promise;
    },
    async drained(ms) {
      const stop = new AbortController();
      await Promise.race([
        running,
        pause(ms, undefined, { ref: false, signal: stop.signal }).catch(() => {}),
      ]);
      stop.abort();
    },
  };
}
