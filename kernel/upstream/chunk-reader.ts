import type { Readable } from "node:stream";
import type { Chunk } from "#kernel/completion/chunk.ts";
import type { ChunkBatch } from "#kernel/completion/provider.ts";
import { type Pushable, type PushFlow, PushStream, type Sink } from "#kernel/completion/push.ts";
import { type Flow, consumeBody } from "#kernel/egress/direct-body.ts";
import { toUpstreamError } from "./failure.ts";
import { DeltaBatcher } from "./delta-batcher.ts";

/** Bytes of a stream in, chunks out; it knows nothing of where they come from. */
export interface StreamParser {
  /** Takes one piece of the body. Throws AppError `upstream` for an event that never ends. */
  push(piece: Buffer): void;
  /** Tells that the body ended. */
  end(): void;
  /** The next chunks, of a limited number of events; empty when what is there yields none. */
  take(): Chunk[];
  /** True while complete events wait for `take`. */
  readonly hasMore: boolean;
  /** True once nothing behind what was read counts any more; set when the rest is given up. */
  isDone: boolean;
  /** What ended the stream early; the chunks before it are handed out first. */
  readonly failure: unknown;
  /** Asked when nothing more will be read: what is wrong with an answer that ends like this. */
  findProblem(): unknown;
}

export interface ChunkReaderOptions {
  readonly parser: StreamParser;
  /** Of the caller; an aborted one explains why the body broke off. */
  readonly signal: AbortSignal;
  /** Events that are worth a batch; fewer wait for a moment. */
  readonly atLeast?: number | undefined;
}

/** Bytes that may wait to be read before the upstream is paused. */
const pauseAt = 65_536;

/** Milliseconds the upstream has to end its answer after its last event before its connection is given up. */
const graceAfterDone = 1000;

/**
 * Reads a streamed body as chunks, one batch a socket read (of as many events as the parser takes at once, then the
 * loop gets its turn). The body is paused while nobody asks. Throws ProviderError for an error event, AppError `upstream` or
 * `timeout` when the body breaks off; returning early destroys the body.
 */
export function readStream(body: Readable, options: ChunkReaderOptions): Pushable<ChunkBatch> {
  return new ChunkReader(body, options);
}

class ChunkReader extends PushStream<ChunkBatch> {
  /** Undefined while what came before anybody asked is handed over. */
  #flow: Flow | undefined;
  #patience: NodeJS.Timeout | undefined;
  readonly #signal: AbortSignal;
  readonly #parser: StreamParser;
  /** The consumer, and whether it asked for a pause. */
  #sink: Sink<ChunkBatch> | undefined;
  #isHeld = false;
  /** `ended`: no more bytes will come; `finished`: the consumer has been told. */
  #state: "open" | "ended" | "finished" = "open";
  #failure: unknown;
  /** True once the consumer has given the rest up. */
  #hasLeft = false;
  /** Whether a delivery is due at the end of this turn. */
  #isDue = false;
  /** Bytes taken since the parser was last empty. */
  #unread = 0;
  #isPaused = false;
  readonly #batcher: DeltaBatcher;

  constructor(body: Readable, options: ChunkReaderOptions) {
    super();
    this.#signal = options.signal;
    this.#batcher = new DeltaBatcher(options.atLeast ?? 1, this.#deliverDue);
    this.#parser = options.parser;
    this.#flow = consumeBody(body, {
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

  pushTo(sink: Sink<ChunkBatch>): PushFlow {
    this.#sink = sink;
    if (this.#unread > 0 || this.#state !== "open") {
      // What came before anybody asked waits for no more.
      process.nextTick(() => this.#deliver());
    }
    return {
      resume: () => {
        this.#isHeld = false;
        this.#deliverNext();
      },
      abort: () => {
        this.#sink = undefined;
        this.#leave();
      },
    };
  }

  #leave(): void {
    this.#hasLeft = true;
    this.#state = "finished";
    this.#parser.isDone = true;
    this.#batcher.clear();
    this.#flow?.abort();
  }

  get #isWanted(): boolean {
    return this.#sink !== undefined && !this.#isHeld;
  }

  #take(piece: Buffer): void {
    if (this.#state !== "open") {
      return;
    }
    try {
      this.#parser.push(piece);
    } catch (error) {
      this.#fail(error);
      return;
    }
    // One socket read comes as many small pieces; they make one batch.
    if (!this.#isDue && this.#isWanted && this.#batcher.add(piece)) {
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
    this.#batcher.clear();
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
      this.#finish();
    } else if (this.#isPaused) {
      this.#isPaused = false;
      this.#flow?.resume();
    }
  }

  #give(batch: ChunkBatch): void {
    this.#isHeld = this.#sink?.next(batch) === false;
    if (!this.#isHeld && (this.#parser.hasMore || this.#state !== "open" || this.#isPaused)) {
      this.#deliverNext();
    }
  }

  /** What is left of a large read waits for the next turn of the loop. */
  #deliverNext(): void {
    if (this.#parser.hasMore) {
      setImmediate(() => this.#deliver());
    } else {
      this.#deliver();
    }
  }

  /** Nothing more is read: after its last event the upstream may end by itself, which keeps its connection for the next call. */
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

  #finish(): void {
    const failure = this.#failure ?? (this.#hasLeft ? undefined : this.#parser.findProblem());
    this.#state = "finished";
    const sink = this.#sink;
    this.#sink = undefined;
    if (failure !== undefined) {
      sink?.failed(failure);
    } else {
      sink?.end();
    }
  }
}
