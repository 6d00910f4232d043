import { asObject, parseOrUndefined, toObject } from "#config/json-values.ts";
import type { Chunk, Delta, Usage } from "#kernel/completion/chunk.ts";
import { AppError } from "#kernel/errors.ts";
import type { StreamParser } from "#kernel/upstream/chunk-reader.ts";
import { NdjsonSplitter } from "./ndjson-splitter.ts";
import { type ReplyHead, requireNoError, toCalls, toFinish, toLogprobs, toText, toUsage } from "./reply.ts";

export interface LineParserOptions {
  readonly head: ReplyHead;
  /** Whether usage comes in a chunk of its own, as `stream_options.include_usage` asks for. */
  readonly hasUsageChunk: boolean;
  /** Called for lines that are left out. */
  skipped(reason: "broken"): void;
}

/** One line beyond this ends the stream, whatever the settings say. */
const largestLine = 16 * 1024 * 1024;

/** Lines parsed in one go; one fast stream must not starve the others. */
const linesPerTurn = 64;

/** Reads the runtime's stream of JSON lines as chunks of the common wire. */
export class LineParser implements StreamParser {
  failure: unknown;
  isDone = false;

  readonly #options: LineParserOptions;
  readonly #lines: NdjsonSplitter;
  #calls = 0;
  #isFirst = true;
  #isReply = false;

  constructor(options: LineParserOptions) {
    this.#options = options;
    this.#lines = new NdjsonSplitter({ hardLimit: largestLine });
  }

  get hasMore(): boolean {
    return !this.isDone && this.#lines.hasMore;
  }

  push(piece: Buffer): void {
    this.#lines.push(piece);
  }

  end(): void {
    this.#lines.end();
  }

  take(): Chunk[] {
    const batch: Chunk[] = [];
    try {
      for (let count = 0; this.hasMore && (count < linesPerTurn || batch.length === 0); count++) {
        this.#add(batch, this.#lines.take() ?? "");
      }
    } catch (error) {
      this.failure = error;
      this.isDone = true;
    }
    return batch;
  }

  /** A reply that ends without its last line was cut off. */
  findProblem(): AppError | undefined {
    if (this.isDone) {
      return undefined;
    }
    return new AppError(
      "upstream",
      this.#isReply
        ? "The runtime broke off its answer."
        : "The runtime's answer is not a stream of JSON lines.",
    );
  }

  #add(batch: Chunk[], line: string): void {
    if (line.trim() === "") {
      return;
    }
    const answer = asObject(parseOrUndefined(line));
    if (answer === undefined) {
      this.#options.skipped("broken");
      return;
    }
    requireNoError(answer);
    this.#isReply = true;
    const logprobs = toLogprobs(answer);
    const deltas = this.#toDeltas(toObject(answer["message"]));
    deltas.forEach((delta, at) => {
      // The line's probabilities stand beside the last of its pieces, once.
      const more = logprobs && at === deltas.length - 1 ? { logprobs } : {};
      batch.push(this.#toChunk(delta, { finish_reason: null, ...more }));
    });
    if (answer["done"] === true) {
      this.#finish(batch, answer);
    }
  }

  /** The pieces of one line: reasoning comes first, in a chunk of its own. */
  #toDeltas(message: Readonly<Record<string, unknown>>): Delta[] {
    const content = toText(message["content"]);
    const thinking = toText(message["thinking"]);
    const calls = toCalls(message["tool_calls"], this.#calls);
    this.#calls += calls.length;
    const deltas: Delta[] = [];
    if (thinking !== "") {
      deltas.push({ reasoning_content: thinking });
    }
    if (content !== "" || calls.length > 0) {
      deltas.push({ ...(content !== "" && { content }), ...(calls.length > 0 && { tool_calls: calls }) });
    }
    if (this.#isFirst && deltas[0] !== undefined) {
      this.#isFirst = false;
      deltas[0] = { role: "assistant", ...deltas[0] };
    }
    return deltas;
  }

  #finish(batch: Chunk[], answer: Readonly<Record<string, unknown>>): void {
    this.isDone = true;
    const usage = toUsage(answer);
    const delta: Delta = this.#isFirst ? { role: "assistant", content: "" } : {};
    const end = this.#toChunk(delta, { finish_reason: toFinish(answer, this.#calls > 0) });
    // A caller that did not ask for it gets usage too, but no chunk without choices, which some cannot read.
    batch.push(...(this.#options.hasUsageChunk ? [end, this.#toUsageChunk(usage)] : [{ ...end, usage }]));
  }

  #toChunk(delta: Delta, more: { finish_reason: string | null; logprobs?: unknown }): Chunk {
    return { ...this.#head(), choices: [{ index: 0, delta, ...more }] };
  }

  #toUsageChunk(usage: Usage): Chunk {
    return { ...this.#head(), choices: [], usage };
  }

  #head() {
    const { id, created, model } = this.#options.head;
    return { id, object: "chat.completion.chunk", created, model };
  }
}
