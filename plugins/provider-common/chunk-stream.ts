import type { Readable } from "node:stream";
import type { ChunkBatch } from "#kernel/completion/provider.ts";
import { AppError } from "#kernel/errors.ts";
import { ChunkParser, type ChunkParserOptions } from "./chunk-parser.ts";
import { toUpstreamError } from "./upstream-errors.ts";

export interface ChunkReaderOptions extends ChunkParserOptions {
  /** Of the caller; an aborted one explains why the body broke off. */
  readonly signal: AbortSignal;
}

/** Milliseconds the upstream has to end its answer after [DONE] before its connection is given up. */
const graceAfterDone = 1000;

/**
 * Reads a body of Server-Sent Events as chunks, one batch a socket read (of at most 64 events, then the loop gets its
 * turn). The body is paused while nobody asks. Throws ProviderError for an error frame, AppError `upstream` or
 * `timeout` when the body breaks off; returning early destroys the body.
 */
export function readChunks(body: Readable, options: ChunkReaderOptions): AsyncIterableIterator<ChunkBatch> {
  return new ChunkReader(body, options);
}

type Result = IteratorResult<ChunkBatch, undefined>;

class ChunkReader implements AsyncIterableIterator<ChunkBatch> {
  readonly #body: Readable;
  readonly #signal: AbortSignal;
  readonly #parser: ChunkParser;
  #waiting: PromiseWithResolvers<Result> | undefined;
  /** `ended`: no more bytes will come; `finished`: the consumer has been told. */
  #state: "open" | "ended" | "finished" = "open";
  #failure: unknown;
  /** Whether a delivery is due at the end of this turn. */
  #isDue = false;
  /** Bytes taken since the parser was last empty. */
  #unread = 0;
  #sawBytes = false;

  constructor(body: Readable, options: ChunkReaderOptions) {
    this.#body = body;
    this.#signal = options.signal;
    this.#parser = new ChunkParser(options);
    body.on("data", (piece: Buffer) => this.#take(piece));
    body.once("end", () => this.#end());
    body.once("error", (error) => this.#fail(error));
    body.once("close", () => {
      // The close after a regular end is no failure, and an error with its stack is not free.
      if (this.#state === "open") {
        this.#fail(brokenOff());
      }
    });
    if (body.destroyed) {
      this.#fail(body.errored ?? brokenOff());
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
    this.#state = "finished";
    this.#parser.isDone = true;
    this.#body.destroy();
    this.#deliver();
    return Promise.resolve({ done: true, value: undefined });
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
    if (this.#waiting && !this.#isDue) {
      this.#isDue = true;
      process.nextTick(this.#deliverDue);
    }
    this.#unread += piece.length;
    if (this.#unread > 65_536) {
      this.#body.pause();
    }
  }

  #deliverDue = (): void => {
    this.#isDue = false;
    this.#deliver();
  };

  #end(): void {
    if (this.#state === "open") {
      this.#state = "ended";
      this.#parser.end();
      this.#deliver();
    }
  }

  #fail(error: unknown): void {
    if (this.#state === "open") {
      this.#break(error);
      this.#deliver();
    }
  }

  #break(error: unknown): void {
    this.#state = "ended";
    this.#failure = toUpstreamError(error, this.#signal);
    this.#body.destroy();
  }

  /** Answers the waiting consumer when there is something to say. */
  #deliver(): void {
    const waiting = this.#waiting;
    if (!waiting) {
      return;
    }
    const batch = this.#parser.take();
    if (!this.#parser.hasMore) {
      this.#unread = 0;
    }
    if (this.#parser.isDone && this.#state !== "finished") {
      this.#close();
    }
    if (batch.length > 0) {
      this.#waiting = undefined;
      waiting.resolve({ done: false, value: batch });
    } else if (this.#state !== "open") {
      this.#waiting = undefined;
      this.#conclude(waiting);
    } else if (this.#body.isPaused()) {
      this.#body.resume();
    }
  }

  /** Nothing more is read: after [DONE] the upstream may end by itself, which keeps its connection for the next call. */
  #close(): void {
    if (this.#parser.failure !== undefined) {
      this.#break(this.#parser.failure);
      return;
    }
    this.#state = "finished";
    const patience = setTimeout(() => this.#body.destroy(), graceAfterDone);
    this.#body.once("close", () => clearTimeout(patience));
    this.#body.resume();
  }

  #conclude(waiting: PromiseWithResolvers<Result>): void {
    const isForeign = this.#sawBytes && !this.#parser.sawEvent;
    const failure = this.#failure ?? (isForeign ? notAStream() : undefined);
    if (this.#state === "ended" && failure !== undefined) {
      waiting.reject(failure);
    } else {
      waiting.resolve({ done: true, value: undefined });
    }
    this.#state = "finished";
  }
}

function brokenOff(): AppError {
  return new AppError("upstream", "The provider broke off its answer.");
}

function notAStream(): AppError {
  return new AppError("upstream", "The provider's answer is not an event stream.");
}
