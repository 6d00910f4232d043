import type { Readable } from "node:stream";
import type { Chunk } from "#kernel/completion/chunk.ts";
import type { ChunkBatch } from "#kernel/completion/provider.ts";
import { AppError } from "#kernel/errors.ts";
import { toChunks } from "./frames.ts";
import { type SseEvent, SseParser } from "./stream-parse.ts";
import { toUpstreamError } from "./upstream-errors.ts";

export interface ChunkReaderOptions {
  /** Bytes beyond which a frame is dropped; undefined keeps all. */
  readonly softLimit: number | undefined;
  /** Of the caller; an aborted one explains why the body broke off. */
  readonly signal: AbortSignal;
  /** Told of frames that were left out. */
  skipped(reason: "broken" | "oversized"): void;
  /** Changes a chunk in place before it is handed out. */
  readonly amend?: ((chunk: Chunk) => void) | undefined;
}

/** One frame beyond this ends the stream, whatever the settings say. */
const largestFrame = 16 * 1024 * 1024;

/** Events parsed in one go; one fast stream must not starve the others. */
const eventsPerTurn = 64;

/** Time the upstream has to end its answer after [DONE] before its connection is given up. */
const graceAfterDone = 1000;

/**
 * Reads a body of Server-Sent Events as chunks, one batch a socket read (at most 64 chunks, then the loop gets its
 * turn). The body is paused while nobody asks. Throws ProviderError for an error frame, AppError `upstream` or
 * `timeout` when the body breaks off; returning early destroys the body.
 */
export function readChunks(body: Readable, options: ChunkReaderOptions): AsyncIterableIterator<ChunkBatch> {
  return new ChunkReader(body, options);
}

type Result = IteratorResult<ChunkBatch, undefined>;

class ChunkReader implements AsyncIterableIterator<ChunkBatch> {
  readonly #body: Readable;
  readonly #options: ChunkReaderOptions;
  readonly #parser: SseParser;
  #waiting: PromiseWithResolvers<Result> | undefined;
  #failure: unknown;
  #state: "open" | "ended" | "finished" = "open";
  /** False once nothing behind what was read counts any more. */
  #readsOn = true;
  #sawEvent = false;
  #sawBytes = false;
  #dropped = 0;

  constructor(body: Readable, options: ChunkReaderOptions) {
    this.#body = body;
    this.#options = options;
    this.#parser = new SseParser({ softLimit: options.softLimit, hardLimit: largestFrame });
    body.on("data", (piece: Buffer) => this.#take(piece));
    body.once("end", () => this.#end());
    body.once("error", (error) => this.#fail(error));
    body.once("close", () => this.#fail(new AppError("upstream", "The provider broke off its answer.")));
    if (body.destroyed) {
      this.#fail(body.errored ?? new AppError("upstream", "The provider broke off its answer."));
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
    this.#readsOn = false;
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
    if (this.#waiting) {
      this.#deliver();
    }
    if (this.#parser.hasMore) {
      this.#body.pause();
    }
  }

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
    this.#failure = toUpstreamError(error, this.#options.signal);
    this.#body.destroy();
  }

  /** Answers the waiting consumer when there is something to say. */
  #deliver(): void {
    const waiting = this.#waiting;
    if (!waiting) {
      return;
    }
    const batch = this.#parse();
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

  #conclude(waiting: PromiseWithResolvers<Result>): void {
    const failure = this.#state === "ended" ? this.#findFailure() : undefined;
    this.#state = "finished";
    if (failure === undefined) {
      waiting.resolve({ done: true, value: undefined });
    } else {
      waiting.reject(failure);
    }
  }

  /** The next chunks; empty when what is there yields none. A failure comes after the chunks before it. */
  #parse(): Chunk[] {
    const batch: Chunk[] = [];
    try {
      while (batch.length === 0 && this.#parser.hasMore && this.#readsOn) {
        this.#parser.take(eventsPerTurn).every((event) => this.#add(batch, event));
      }
    } catch (error) {
      this.#readsOn = false;
      this.#break(error);
    }
    for (; this.#dropped < this.#parser.dropped; this.#dropped++) {
      this.#sawEvent = true;
      this.#options.skipped("oversized");
    }
    return batch;
  }

  /** Adds what the event holds; false when it ends the stream. */
  #add(batch: Chunk[], event: SseEvent): boolean {
    this.#sawEvent = true;
    if (event.data === "[DONE]") {
      this.#done();
      return false;
    }
    const chunks = toChunks(event);
    if (chunks === "broken") {
      this.#options.skipped("broken");
      return true;
    }
    for (const chunk of chunks) {
      this.#options.amend?.(chunk);
      batch.push(chunk);
    }
    return true;
  }

  /** What ended the body, or the complaint that it held no event at all. */
  #findFailure(): unknown {
    if (this.#failure === undefined && this.#sawBytes && !this.#sawEvent) {
      return new AppError("upstream", "The provider's answer is not an event stream.");
    }
    return this.#failure;
  }

  /** The upstream ends by itself right after [DONE]; waiting for it keeps its connection for the next call. */
  #done(): void {
    this.#state = "finished";
    this.#readsOn = false;
    const patience = setTimeout(() => this.#body.destroy(), graceAfterDone);
    this.#body.once("close", () => clearTimeout(patience));
    this.#body.resume();
  }
}
