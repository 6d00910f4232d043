import type { Chunk } from "#kernel/completion/chunk.ts";
import { AppError } from "#kernel/errors.ts";
import type { StreamParser } from "#kernel/upstream/chunk-reader.ts";
import { type SseEvent, SseParser } from "#kernel/upstream/sse-parser.ts";
import { type EventOptions, EventTranslator } from "./from-events.ts";

export interface EventParserOptions extends EventOptions {
  /** Bytes of an event beyond which it is dropped; undefined keeps all. Contract D.21. */
  readonly softLimit: number | undefined;
}

/** One event beyond this ends the stream, whatever the settings say. */
const largestEvent = 16 * 1024 * 1024;

/** Events parsed in one go; one fast stream must not starve the others. */
const eventsPerTurn = 64;

/** Bytes of the vendor's event stream in, chunks of the common wire out. */
export class EventParser implements StreamParser {
  failure: unknown;
  isDone = false;

  readonly #sse: SseParser;
  readonly #translator: EventTranslator;

  constructor({ softLimit, ...options }: EventParserOptions) {
    this.#sse = new SseParser({ softLimit, hardLimit: largestEvent });
    this.#translator = new EventTranslator(options);
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
        this.#sse.take(eventsPerTurn).every((event) => this.#add(batch, event));
      }
    } catch (error) {
      this.failure = error;
      this.isDone = true;
    }
    return batch;
  }

  /** A reply that ends without saying so was cut off. */
  findProblem(): unknown {
    return this.#translator.isFinished || this.#translator.isDone
      ? undefined
      : new AppError("upstream", "The provider's answer ended before it was complete.");
  }

  /** Adds what the event holds; false when it is the last one. */
  #add(batch: Chunk[], { data }: SseEvent): boolean {
    const event = parse(data);
    if (event !== undefined) {
      batch.push(...this.#translator.read(event, data));
    }
    this.isDone = this.#translator.isDone;
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
