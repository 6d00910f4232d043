import type { ChunkBatch } from "#kernel/completion/provider.ts";
import { toFrame } from "./blocks.ts";
import type { MessageEvents } from "./from-chunks.ts";

export interface EventStreamOptions {
  readonly batches: AsyncIterable<ChunkBatch>;
  readonly events: MessageEvents;
  /** The count of the prompt's tokens; never rejects. Undefined where the upstream cannot count. */
  readonly counting: Promise<number | undefined> | undefined;
  /** The last frame of a stream that broke. */
  toErrorEvent(error: unknown): string;
}

/** Milliseconds of upstream silence after which a ping goes out. Contract D.25. */
export const pingIntervalMs = 15_000;

/** Milliseconds that a first chunk waits for the count. */
export const countGraceMs = 50;

type Result = IteratorResult<string, undefined>;
type Outcome = { readonly batch: IteratorResult<ChunkBatch> } | { readonly error: unknown };

/** The frames of one reply: the first before its first chunk, pings while the upstream is silent, and an end in any case. */
export class EventStream implements AsyncIterableIterator<string> {
  readonly #options: EventStreamOptions;
  readonly #source: AsyncIterator<ChunkBatch>;
  #isPulling = false;
  #outcome: Outcome | undefined;
  #isCounting: boolean;
  #counted: number | undefined;
  #isStarted = false;
  /** The last frames are made. */
  #isDone = false;
  /** The last frames are out, or the reader left. */
  #isOver = false;
  #wake: (() => void) | undefined;

  constructor(options: EventStreamOptions) {
    this.#options = options;
    this.#source = options.batches[Symbol.asyncIterator]();
    this.#isCounting = options.counting !== undefined;
    void options.counting?.then((count) => {
      this.#counted = count;
      this.#isCounting = false;
      this.#wake?.();
    });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<Result> {
    this.#pull();
    if (!this.#isStarted) {
      await this.#untilStart();
      this.#isStarted = true;
      return this.#emit(this.#options.events.start(this.#counted));
    }
    if (this.#outcome === undefined && !this.#isOver) {
      await this.#sleep(pingIntervalMs);
    }
    return this.#emit(this.#outcome ? this.#toFrames(this.#outcome) : toFrame("ping"));
  }

  async return(): Promise<Result> {
    this.#isOver = true;
    this.#wake?.();
    await this.#source.return?.();
    return { done: true, value: undefined };
  }

  /** Pulls the next batch, one at a time: a ping must not pull another. */
  #pull(): void {
    if (this.#isPulling || this.#isOver) {
      return;
    }
    this.#isPulling = true;
    const receive = (outcome: Outcome) => {
      this.#outcome = outcome;
      this.#wake?.();
    };
    this.#source.next().then(
      (batch) => receive({ batch }),
      (error: unknown) => receive({ error }),
    );
  }

  /** Waits for the count, and once the first chunk is there no longer than `countGraceMs`. */
  async #untilStart(): Promise<void> {
    if (this.#isCounting && this.#outcome === undefined) {
      await this.#sleep(pingIntervalMs);
    }
    if (this.#isCounting && this.#outcome !== undefined && !this.#isOver) {
      await this.#sleep(countGraceMs);
    }
  }

  #toFrames(outcome: Outcome): string {
    this.#outcome = undefined;
    this.#isPulling = false;
    const { events } = this.#options;
    if ("error" in outcome) {
      this.#isDone = true;
      return toEnding(this.#options, outcome.error);
    }
    if (outcome.batch.done === true) {
      this.#isDone = true;
      return events.end();
    }
    return events.push(outcome.batch.value);
  }

  #emit(frames: string): Result {
    if (this.#isOver) {
      return { done: true, value: undefined };
    }
    this.#isOver = this.#isDone;
    return { done: false, value: frames };
  }

  #sleep(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#wake = () => {
        clearTimeout(timer);
        this.#wake = undefined;
        resolve();
      };
    });
  }
}

/** The last frames of a reply that broke off: its end, when only usage was missing, else an error. */
export function toEnding({ events, toErrorEvent }: EventStreamOptions, error: unknown): string {
  return events.isFinished ? events.end() : toErrorEvent(error);
}
