import type { Chunk } from "#kernel/completion/chunk.ts";
import { ChunkNormalizer } from "#kernel/completion/normalize-chunk.ts";
import { TextDeltaReader } from "#plugins/completions/service.ts";
import { AppError } from "#kernel/errors.ts";
import type { StreamParser } from "#kernel/upstream/chunk-reader.ts";
import { toChunks } from "./frames.ts";
import { type SseEvent, SseParser } from "#kernel/upstream/sse-parser.ts";

export interface ChunkParserOptions {
  /** Bytes beyond which a frame is dropped; undefined keeps all. */
  readonly softLimit: number | undefined;
  /** Told of frames that were left out. */
  skipped(reason: "broken" | "oversized"): void;
  /** Changes a chunk in place before it is handed out. */
  readonly amend?: ((chunk: Chunk) => void) | undefined;
}

/** One frame beyond this ends the stream, whatever the settings say. */
const largestFrame = 16 * 1024 * 1024;

/** Events parsed in one go; one fast stream must not starve the others. */
const eventsPerTurn = 64;

/** Reads Server-Sent Events of the common wire. */
export class ChunkParser implements StreamParser {
  failure: unknown;
  isDone = false;

  readonly #options: ChunkParserOptions;
  readonly #sse: SseParser;
  readonly #text = new TextDeltaReader();
  #dropped = 0;
  readonly #normalizer = new ChunkNormalizer();
  #sawBytes = false;
  /** True once there was an event, however broken. */
  #sawEvent = false;
  /** True once an event was left out, or was of no known kind. */
  #sawJunk = false;
  #sawChunk = false;

  constructor(options: ChunkParserOptions) {
    this.#options = options;
    this.#sse = new SseParser({ softLimit: options.softLimit, hardLimit: largestFrame });
  }

  get hasMore(): boolean {
    return !this.isDone && this.#sse.hasMore;
  }

  push(piece: Buffer): void {
    this.#sawBytes = true;
    this.#sse.push(piece);
  }

  end(): void {
    this.#sse.end();
  }

  /** The next chunks, of at most 64 events; empty when what is there yields none. */
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
    for (; this.#dropped < this.#sse.dropped; this.#dropped++) {
      this.#sawEvent = this.#sawJunk = true;
      this.#options.skipped("oversized");
    }
    return batch;
  }

  findProblem(): AppError | undefined {
    if (this.#sawChunk || !this.#sawBytes || (this.#sawEvent && !this.#sawJunk)) {
      return undefined;
    }
    const problem = this.#sawEvent
      ? "The provider's stream held nothing that can be read."
      : "The provider's answer is not an event stream.";
    return new AppError("upstream", problem);
  }

  /** Adds what the event holds; false when it ends the stream. */
  #add(batch: Chunk[], event: SseEvent): boolean {
    this.#sawEvent = true;
    if (event.data === "[DONE]") {
      this.isDone = true;
      return false;
    }
    const known = event.name === "" ? this.#text.read(event.data) : undefined;
    const chunks = known ? [known] : toChunks(event, this.#normalizer);
    this.#sawJunk ||= chunks === "broken" || chunks.length === 0;
    if (chunks === "broken") {
      this.#options.skipped("broken");
      return true;
    }
    const [first] = chunks;
    if (known === undefined && first !== undefined && chunks.length === 1) {
      this.#text.learn(event.data, first);
    }
    this.#sawChunk ||= chunks.length > 0;
    for (const chunk of chunks) {
      this.#options.amend?.(chunk);
      batch.push(chunk);
    }
    return true;
  }
}
