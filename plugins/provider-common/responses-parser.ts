import type { Chunk } from "#kernel/completion/chunk.ts";
import { AppError } from "#kernel/errors.ts";
import type { StreamParser } from "#kernel/upstream/chunk-reader.ts";
import { SseParser } from "#kernel/upstream/sse-parser.ts";
import { ResponsesTranslator, type TranslatorOptions } from "./responses-events.ts";

/** One event beyond this ends the stream, whatever the settings say. */
const largestEvent = 16 * 1024 * 1024;

/** Events parsed in one go; one fast stream must not starve the others. */
const eventsPerTurn = 64;

/** Bytes of the events of the Responses format in, chunks of the common wire out. */
export class ResponsesParser implements StreamParser {
  failure: unknown;
  isDone = false;

  readonly #sse: SseParser;
  readonly #translator: ResponsesTranslator;

  constructor({ softLimit, ...options }: TranslatorOptions & { softLimit: number | undefined }) {
    this.#sse = new SseParser({ softLimit, hardLimit: largestEvent });
    this.#translator = new ResponsesTranslator(options);
  }

  get hasMore(): boolean {
    return !this.isDone && this.#sse.hasMore;
  }

  push(piece: Buffer): void {
    this.#sse.push(piece);
  }

  end(): void {
    this.#sse.end();
  }

  take(): Chunk[] {
    const batch: Chunk[] = [];
    try {
      while (batch.length === 0 && this.hasMore) {
        this.#sse.take(eventsPerTurn).every(({ data }) => this.#add(batch, data));
      }
    } catch (error) {
      this.failure = error;
      this.isDone = true;
    }
    return batch;
  }

  /** A response that ends without saying so was cut off. */
  findProblem(): unknown {
    return this.#translator.isFinished
      ? undefined
      : new AppError("upstream", "The provider's answer ended before it was complete.");
  }

  /** Adds what the event holds; false when it is the last one. */
  #add(batch: Chunk[], data: string): boolean {
    const event = parse(data);
    if (event !== undefined) {
      batch.push(...this.#translator.read(event));
    }
    this.isDone = this.#translator.isFinished;
    return !this.isDone;
  }
}

function parse(data: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(data);
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
