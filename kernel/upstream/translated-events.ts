import type { Chunk } from "#kernel/completion/chunk.ts";
import { AppError } from "#kernel/errors.ts";
import type { StreamParser } from "./chunk-reader.ts";
import { SseParser } from "./sse-parser.ts";

/** Makes chunks of the common wire out of another format's events. */
export interface StreamTranslator {
  /** True when no event after this one matters. */
  readonly isDone: boolean;
  /** True when the answer said that it is complete. */
  readonly isFinished: boolean;
  /** Throws what the event reports as a failure. */
  read(event: Record<string, unknown>, text: string): readonly Chunk[];
}

/** One event beyond this ends the stream, whatever the settings say. */
const largestEvent = 16 * 1024 * 1024;

/** Events parsed in one go; one fast stream must not starve the others. */
const eventsPerTurn = 64;

/** Bytes of a format's event stream in, chunks of the common wire out. Events that are no JSON objects are left out. */
export class TranslatedEvents implements StreamParser {
  failure: unknown;
  isDone = false;

  readonly #sse = new SseParser({ hardLimit: largestEvent });
  readonly #translator: StreamTranslator;

  constructor(translator: StreamTranslator) {
    this.#translator = translator;
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

  /** An answer that ends without saying so was cut off. */
  findProblem(): unknown {
    return this.#translator.isFinished || this.#translator.isDone
      ? undefined
      : new AppError("upstream", "The provider's answer ended before it was complete.");
  }

  /** Adds what the event holds; false when it is the last one. */
  #add(batch: Chunk[], data: string): boolean {
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
