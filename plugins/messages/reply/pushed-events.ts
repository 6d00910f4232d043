import type { ChunkBatch } from "#kernel/completion/provider.ts";
import { isPushable, type Pushable, type PushFlow, type Sink } from "#kernel/completion/push.ts";
import { toFrame } from "./blocks.ts";
import { countGrace, EventStream, type EventStreamOptions, pingEvery, toEnding } from "./event-stream.ts";

/** The frames of one reply; of a source that can be pushed they can be pushed too. */
export function toEventStream(options: EventStreamOptions): AsyncIterableIterator<string> {
  return isPushable(options.batches) ? new PushedEvents(options, options.batches) : new EventStream(options);
}

/** The same frames without a promise and a timer for each. */
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
  /** Whether the sink asked for a pause. */
  #isHeld = false;
  /** What came before the first event could go out. */
  #early: (() => void)[] = [];

  constructor(options: EventStreamOptions, sink: Sink<string>) {
    this.#options = options;
    this.#sink = sink;
    this.#pinging = setTimeout(() => this.#ping(), pingEvery);
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
        this.#isHeld = false;
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
      this.#keep(() => void this.next(batch));
      return false;
    }
    const frames = this.#options.events.push(batch);
    this.#pinging.refresh();
    return frames === "" || this.#give(frames);
  }

  end(): void {
    this.#finish(() => this.#options.events.end());
  }

  failed(error: unknown): void {
    this.#finish(() => toEnding(this.#options, error));
  }

  /** The count is there, or nobody waits for it any more. */
  #start(count: number | undefined): void {
    if (this.#isStarted || this.#isOver) {
      return;
    }
    this.#isStarted = true;
    this.#pinging.refresh();
    try {
      this.#give(this.#options.events.start(count));
      this.#early.splice(0).forEach((each) => each());
    } catch (error) {
      // Here nobody who pushes hears of it.
      this.#flow?.abort();
      this.failed(error);
    }
    if (!this.#isHeld && !this.#isOver) {
      this.#flow?.resume();
    }
  }

  /** A first chunk waits for the count no longer than anybody notices. */
  #keep(early: () => void): void {
    if (this.#early.push(early) === 1) {
      setTimeout(() => this.#start(undefined), countGrace);
    }
  }

  #finish(last: () => string): void {
    if (!this.#isStarted && !this.#isOver) {
      this.#keep(() => this.#finish(last));
    } else if (!this.#isOver) {
      this.#give(this.#toLast(last));
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
    if (this.#isStarted && !this.#isHeld) {
      this.#give(toFrame("ping"));
    }
    this.#start(undefined);
    this.#pinging.refresh();
  }

  #give(frames: string): boolean {
    this.#isHeld = !this.#sink.next(frames);
    return !this.#isHeld;
  }

  #end(): void {
    this.#isOver = true;
    clearTimeout(this.#pinging);
  }
}
