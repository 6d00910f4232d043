import type { ChunkBatch } from "#kernel/completion/provider.ts";
import { type Pushable, type PushFlow, PushStream, type Sink, toPushable } from "#kernel/completion/push.ts";
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

/** The frames of one reply: the first before its first chunk, pings while the upstream is silent, and an end in any case. */
export function toEventStream(options: EventStreamOptions): Pushable<string> {
  return new EventStream(options);
}

class EventStream extends PushStream<string> {
  readonly #options: EventStreamOptions;

  constructor(options: EventStreamOptions) {
    super();
    this.#options = options;
  }

  pushTo(sink: Sink<string>): PushFlow {
    return new EventSink(this.#options, sink).begin(toPushable(this.#options.batches));
  }
}

class EventSink implements Sink<ChunkBatch> {
  readonly #options: EventStreamOptions;
  readonly #sink: Sink<string>;
  readonly #pinging: NodeJS.Timeout;
  #flow: PushFlow | undefined;
  #isStarted = false;
  #isOver = false;
  /** The sink asked for a pause. */
  #isPaused = false;
  /** Calls of the source from before the first event. */
  #early: (() => void)[] = [];

  constructor(options: EventStreamOptions, sink: Sink<string>) {
    this.#options = options;
    this.#sink = sink;
    this.#pinging = setTimeout(() => this.#ping(), pingIntervalMs);
  }

  begin(batches: Pushable<ChunkBatch>): PushFlow {
    this.#flow = batches.pushTo(this);
    const { counting } = this.#options;
    if (counting === undefined) {
      process.nextTick(() => this.#start(undefined));
    } else {
      void counting.then((count) => this.#start(count));
    }
    return {
      resume: () => {
        this.#isPaused = false;
        if (this.#isStarted) {
          this.#flow?.resume();
        }
      },
      abort: () => {
        this.#end();
        return this.#flow?.abort();
      },
    };
  }

  next(batch: ChunkBatch): boolean {
    if (!this.#isStarted) {
      this.#buffer(() => void this.next(batch));
      return false;
    }
    const frames = this.#options.events.push(batch);
    this.#pinging.refresh();
    return frames === "" || this.#emit(frames);
  }

  end(): void {
    this.#finish(() => this.#options.events.end());
  }

  failed(error: unknown): void {
    this.#finish(() => toEnding(this.#options, error));
  }

  /** Emits the first event, with the count where it is there. */
  #start(count: number | undefined): void {
    if (this.#isStarted || this.#isOver) {
      return;
    }
    this.#isStarted = true;
    this.#pinging.refresh();
    try {
      this.#emit(this.#options.events.start(count));
      this.#early.splice(0).forEach((each) => each());
    } catch (error) {
      // Nothing above this callback would catch it.
      void this.#flow?.abort();
      this.failed(error);
    }
    if (!this.#isPaused && !this.#isOver) {
      this.#flow?.resume();
    }
  }

  /** Buffers calls until the count is there; the first one starts the grace period. */
  #buffer(early: () => void): void {
    if (this.#early.push(early) === 1) {
      setTimeout(() => this.#start(undefined), countGraceMs);
    }
  }

  #finish(last: () => string): void {
    if (!this.#isStarted && !this.#isOver) {
      this.#buffer(() => this.#finish(last));
    } else if (!this.#isOver) {
      this.#emit(this.#toLast(last));
      this.#end();
      this.#sink.end();
    }
  }

  #toLast(last: () => string): string {
    try {
      return last();
    } catch (error) {
      return toEnding(this.#options, error);
    }
  }

  #ping(): void {
    if (this.#isStarted && !this.#isPaused) {
      this.#emit(toFrame("ping"));
    }
    this.#start(undefined);
    this.#pinging.refresh();
  }

  #emit(frames: string): boolean {
    this.#isPaused = !this.#sink.next(frames);
    return !this.#isPaused;
  }

  #end(): void {
    this.#isOver = true;
    clearTimeout(this.#pinging);
  }
}

/** The last frames of a reply that broke off: its end, when only usage was missing, else an error. */
export function toEnding({ events, toErrorEvent }: EventStreamOptions, error: unknown): string {
  return events.isFinished ? events.end() : toErrorEvent(error);
}
