import type { ChunkBatch } from "#kernel/completion/provider.ts";
import { isPushable, type Pushable, type PushFlow, type Sink } from "#kernel/completion/push.ts";
import { toFrame } from "./blocks.ts";
import {
  countGraceMs,
  EventStream,
  type EventStreamOptions,
  pingIntervalMs,
  toEnding,
} from "./event-stream.ts";

/** The frames of one reply; pushed where the source can push. */
export function toEventStream(options: EventStreamOptions): AsyncIterableIterator<string> {
  return isPushable(options.batches) ? new PushedEvents(options, options.batches) : new EventStream(options);
}

/** The same frames without a promise and a timer for each: the paced half of P1 in performance.md. */
class PushedEvents extends EventStream implements Pushable<string> {
  readonly #options: EventStreamOptions;
  readonly #batches: Pushable<ChunkBatch>;

  constructor(options: EventStreamOptions, batches: Pushable<ChunkBatch>) {
    super(options);
    this.#options = options;
    this.#batches = batches;
  }

  pushTo(sink: Sink<string>): PushFlow {
    const push = new Push(this.#options, sink);
    return push.begin(this.#batches);
  }
}

class Push implements Sink<ChunkBatch> {
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
        this.#flow?.abort();
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
      this.#flow?.abort();
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
