import type { ChunkBatch } from "#kernel/completion/provider.ts";
import { toFrame } from "./blocks.ts";
import type { MessageEvents } from "./from-chunks.ts";

export interface EventStreamOptions {
  readonly batches: AsyncIterable<ChunkBatch>;
  readonly events: MessageEvents;
  /** The prompt's tokens, being counted; never rejects. Left out where nobody counts. */
  readonly counting: Promise<number | undefined> | undefined;
  /** The last frame of a stream that broke; told of what broke it. */
  toErrorEvent(error: unknown): string;
}

/** Milliseconds of silence of the upstream after which clients are told that the reply goes on. Contract D.25. */
export const pingEvery = 15_000;

/** Milliseconds a first chunk waits for the count, which was asked for before it. */
export const countGrace = 50;

type Result = IteratorResult<string, undefined>;
type Outcome = { readonly batch: IteratorResult<ChunkBatch> } | { readonly error: unknown };

/** The frames of one reply: they begin before its first chunk, go on while the upstream is silent and end in any case. */
export class EventStream implements AsyncIterableIterator<string> {
  readonly #options: EventStreamOptions;
  readonly #source: AsyncIterator<ChunkBatch>;
  #isAsked = false;
  #outcome: Outcome | undefined;
  #isCounting: boolean;
  #counted: number | undefined;
  #isStarted = false;
  /** The last frames are made. */
  #isDone = false;
  /** They are given, or nobody wants them. */
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
    this.#ask();
    if (!this.#isStarted) {
      await this.#untilStart();
      this.#isStarted = true;
      return this.#give(this.#options.events.start(this.#counted));
    }
    if (this.#outcome === undefined && !this.#isOver) {
      await this.#sleep(pingEvery);
    }
    return this.#give(this.#outcome ? this.#settle(this.#outcome) : toFrame("ping"));
  }

  async return(): Promise<Result> {
    this.#isOver = true;
    this.#wake?.();
    await this.#source.return?.();
    return { done: true, value: undefined };
  }

  /** Asks for the next batch, once at a time: a ping must not ask again. */
  #ask(): void {
    if (this.#isAsked || this.#isOver) {
      return;
    }
    this.#isAsked = true;
    const take = (outcome: Outcome) => {
      this.#outcome = outcome;
      this.#wake?.();
    };
    this.#source.next().then(
      (batch) => take({ batch }),
      (error: unknown) => take({ error }),
    );
  }

  /** Until the count is there, or the first chunk, which waits for it no longer than anybody notices. */
  async #untilStart(): Promise<void> {
    if (this.#isCounting && this.#outcome === undefined) {
      await this.#sleep(pingEvery);
    }
    if (this.#isCounting && this.#outcome !== undefined && !this.#isOver) {
      await this.#sleep(countGrace);
    }
  }

  #settle(outcome: Outcome): string {
    this.#outcome = undefined;
    this.#isAsked = false;
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

  #give(frames: string): Result {
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

/** The last frames of a reply that broke off. Behind its end only its usage was kept back. */
export function toEnding({ events, toErrorEvent }: EventStreamOptions, error: unknown): string {
  return events.isFinished ? events.end() : toErrorEvent(error);
}
