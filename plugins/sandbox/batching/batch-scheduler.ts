import { limits } from "../limits.ts";

// P4 and P6 (sandboxed stream filters): a crossing costs more than a usual hook does, so that several share one.

/** An item of a batch, with its length in characters. */
export interface Sized {
  readonly length: number;
}

export interface FlushOptions {
  /** Flushes at the end of this turn of the event loop: every stream has something waiting. */
  readonly flushNow: boolean;
  /** The longest that the items may wait after the previous flush; the shortest such time of all counts. */
  readonly maxDelayMs: number;
}

/**
 * Decides when queued items are flushed, and how many at once. Items that come soon after a flush wait for others, unless
 * they are long; items that come after a pause do not wait.
 */
export class BatchScheduler<T extends Sized> {
  readonly #send: (items: readonly T[]) => void;
  #queue: T[] = [];
  /** Characters in the queue. */
  #length = 0;
  #isFlushing = false;
  #timer: NodeJS.Timeout | undefined;
  /** When the timer runs out. */
  #flushAt = 0;
  #flushedAt = Number.NEGATIVE_INFINITY;
  /** Milliseconds of one item in the last flush. */
  #msEach = limits.crossingMs / 16;

  constructor(send: (items: readonly T[]) => void) {
    this.#send = send;
  }

  /** Queues an item for the next flush, which need not be soon. */
  add(item: T): void {
    this.#queue.push(item);
    this.#length += item.length;
  }

  /** Schedules the next flush. */
  schedule({ flushNow, maxDelayMs }: FlushOptions): void {
    if (this.#isFlushing) {
      return;
    }
    const flushAt = this.#flushedAt + maxDelayMs;
    const ms = flushAt - performance.now();
    if (flushNow || ms < 1 || this.#length >= limits.crossingWorth) {
      clearTimeout(this.#timer);
      this.#timer = undefined;
      this.#isFlushing = true;
      // Sockets that are ready now come first: what they bring is flushed as well.
      setImmediate(this.#flush);
    } else if (this.#timer === undefined || flushAt < this.#flushAt) {
      clearTimeout(this.#timer);
      this.#timer = setTimeout(this.#flush, ms);
      this.#flushAt = flushAt;
    }
  }

  readonly #flush = (): void => {
    this.#timer = undefined;
    this.#isFlushing = false;
    const until = performance.now() + limits.crossingMs;
    let started = performance.now();
    while (this.#queue.length > 0) {
      const items = this.#dequeue();
      this.#send(items);
      this.#flushedAt = performance.now();
      this.#msEach = (this.#flushedAt - started) / items.length;
      started = this.#flushedAt;
      if (started >= until && this.#queue.length > 0) {
        // Other work of this thread comes first.
        this.#isFlushing = true;
        setImmediate(this.#flush);
        return;
      }
    }
  };

  /** Takes as many items as will be through in time, if each is like those of the last flush. */
  #dequeue(): T[] {
    const most = Math.max(1, limits.crossingMs / this.#msEach);
    let [count, length] = [0, 0];
    while (count < this.#queue.length && (count === 0 || (count < most && length < limits.crossingLength))) {
      length += (this.#queue[count] as T).length;
      count += 1;
    }
    this.#length -= length;
    return this.#queue.splice(0, count);
  }
}
