import type { Readable } from "node:stream";
import type { ChunkBatch } from "#kernel/completion/provider.ts";
import type { Pushable, PushFlow, Sink } from "#kernel/completion/push.ts";
import { type Flow, receive } from "#kernel/egress/direct-body.ts";
import { AppError } from "#kernel/errors.ts";
import { ChunkParser, type ChunkParserOptions } from "./chunk-parser.ts";
import { Hold } from "./hold.ts";
import { toUpstreamError } from "./upstream-errors.ts";

export interface ChunkReaderOptions extends ChunkParserOptions {
  /** Of the caller; an aborted one explains why the body broke off. */
  readonly signal: AbortSignal;
  /** Events that are worth a batch; fewer wait for a moment. */
  readonly atLeast?: number | undefined;
}

/** Bytes that may wait to be read before the upstream is paused. */
const pauseAt = 65_536;

/** Milliseconds the upstream has to end its answer after [DONE] before its connection is given up. */
const graceAfterDone = 1000;

/**
 * Reads a body of Server-Sent Events as chunks, one batch a socket read (of at most 64 events, then the loop gets its
 * turn). The body is paused while nobody asks. Throws ProviderError for an error frame, AppError `upstream` or
 * `timeout` when the body breaks off; returning early destroys the body.
 */
export function readChunks(body: Readable, options: ChunkReaderOptions): Pushable<ChunkBatch> {
  return new ChunkReader(body, options);
}

type Result = IteratorResult<ChunkBatch, undefined>;

class ChunkReader implements Pushable<ChunkBatch> {
  /** Undefined while what came before anybody asked is handed over. */
  #flow: Flow | undefined;
  #patience: NodeJS.Timeout | undefined;
  readonly #signal: AbortSignal;
  readonly #parser: ChunkParser;
  /** Whoever pulls, while a batch is asked for. */
  #waiting: PromiseWithResolvers<Result> | undefined;
  /** Whoever has the batches pushed, and whether it asked for a pause. */
  #sink: Sink<ChunkBatch> | undefined;
  #isHeld = false;
  /** `ended`: no more bytes will come; `finished`: the consumer has been told. */
  #state: "open" | "ended" | "finished" = "open";
  #failure: unknown;
  /** Whether a delivery is due at the end of this turn. */
  #isDue = false;
  /** Bytes taken since the parser was last empty. */
  #unread = 0;
  #sawBytes = false;
  #isPaused = false;
  readonly #hold: Hold;

  constructor(body: Readable, options: ChunkReaderOptions) {
    this.#signal = options.signal;
    this.#hold = new Hold(options.atLeast ?? 1, this.#deliverDue);
    this.#parser = new ChunkParser(options);
    this.#flow = receive(body, {
      data: (piece) => this.#take(piece),
      end: () => this.#end(),
      failed: (error) => this.#fail(error),
    });
    if (this.#state === "ended") {
      this.#flow.abort();
    } else if (this.#unread > pauseAt) {
      this.#pause();
    }
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<Result> {
    const waiting = Promise.withResolvers<Result>();
    this.#waiting = waiting;
    if (this.#parser.hasMore) {
      // What is left of a large read waits for the next turn of the loop.
      setImmediate(() => this.#deliver());
    } else {
      this.#deliver();
    }
    return waiting.promise;
  }

  return(): Promise<Result> {
    this.#leave();
    this.#deliver();
    return Promise.resolve({ done: true, value: undefined });
  }

  pushTo(sink: Sink<ChunkBatch>): PushFlow {
    this.#sink = sink;
    process.nextTick(() => this.#deliver());
    return {
      resume: () => {
        this.#isHeld = false;
        this.#deliver();
      },
      abort: () => {
        this.#sink = undefined;
        this.#leave();
      },
    };
  }

  #leave(): void {
    this.#state = "finished";
    this.#parser.isDone = true;
    this.#hold.clear();
    this.#flow?.abort();
  }

  get #isWanted(): boolean {
    return this.#waiting !== undefined || (this.#sink !== undefined && !this.#isHeld);
  }

  #take(piece: Buffer): void {
    if (this.#state !== "open") {
      return;
    }
    this.#sawBytes = true;
    try {
      this.#parser.push(piece);
    } catch (error) {
      this.#fail(error);
      return;
    }
    // One socket read comes as many small pieces; they make one batch.
    if (!this.#isDue && this.#isWanted && this.#hold.add(piece)) {
      this.#isDue = true;
      process.nextTick(this.#deliverDue);
    }
    this.#unread += piece.length;
    if (this.#unread > pauseAt) {
      this.#pause();
    }
  }

  #pause(): void {
    this.#isPaused = true;
    this.#flow?.pause();
  }

  #deliverDue = (): void => {
    this.#isDue = false;
    this.#deliver();
  };

  #end(): void {
    clearTimeout(this.#patience);
    if (this.#state === "open") {
      this.#state = "ended";
      this.#parser.end();
      this.#deliver();
    }
  }

  #fail(error: unknown): void {
    clearTimeout(this.#patience);
    if (this.#state === "open") {
      this.#break(error);
      this.#deliver();
    }
  }

  #break(error: unknown): void {
    this.#state = "ended";
    this.#failure = toUpstreamError(error, this.#signal);
    this.#flow?.abort();
  }

  /** Tells the consumer, when it wants to hear and there is something to say. */
  #deliver(): void {
    if (!this.#isWanted) {
      return;
    }
    this.#hold.clear();
    const batch = this.#parser.take();
    if (!this.#parser.hasMore) {
      this.#unread = 0;
    }
    if (this.#parser.isDone && this.#state !== "finished") {
      this.#close();
    }
    if (batch.length > 0) {
      this.#give(batch);
    } else if (this.#state !== "open") {
      this.#conclude();
    } else if (this.#isPaused) {
      this.#isPaused = false;
      this.#flow?.resume();
    }
  }

  #give(batch: ChunkBatch): void {
    const waiting = this.#waiting;
    if (waiting) {
      this.#waiting = undefined;
      waiting.resolve({ done: false, value: batch });
      return;
    }
    this.#isHeld = this.#sink?.next(batch) === false;
    if (this.#parser.hasMore) {
      // What is left of a large read waits for the next turn of the loop.
      setImmediate(() => this.#deliver());
    } else if (this.#state !== "open" || this.#isPaused) {
      this.#deliver();
    }
  }

  /** Nothing more is read: after [DONE] the upstream may end by itself, which keeps its connection for the next call. */
  #close(): void {
    if (this.#parser.failure !== undefined) {
      this.#break(this.#parser.failure);
      return;
    }
    if (this.#state === "open") {
      this.#patience = setTimeout(() => this.#flow?.abort(), graceAfterDone);
      this.#flow?.resume();
    }
    this.#state = "finished";
  }

  #conclude(): void {
    const isForeign = this.#sawBytes && !this.#parser.sawEvent;
    const failure = this.#failure ?? (isForeign ? notAStream() : undefined);
    const isFailed = this.#state === "ended" && failure !== undefined;
    this.#state = "finished";
    const [waiting, sink] = [this.#waiting, this.#sink];
    this.#waiting = this.#sink = undefined;
    if (isFailed) {
      waiting?.reject(failure);
      sink?.failed(failure);
    } else {
      waiting?.resolve({ done: true, value: undefined });
      sink?.end();
    }
  }
}

function notAStream(): AppError {
  return new AppError("upstream", "The provider's answer is not an event stream.");
}
