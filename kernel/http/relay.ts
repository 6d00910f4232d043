import type { OutgoingHttpHeaders, ServerResponse } from "node:http";
import { type Flow, consumeBody, type BodyConsumer } from "#kernel/egress/direct-body.ts";
import { DoneFrame } from "./done-frame.ts";
import { type RespondContext, writeHead } from "./head.ts";
import { onceDrained, writeHttpChunk } from "./http-chunk.ts";
import type { Relay, RelayOptions } from "./route.ts";
import { LineSplitter } from "./line-splitter.ts";

/** Passes an upstream's bytes on as they come; a client that leaves aborts the upstream at once. */
export function writeRelay(response: ServerResponse, relay: Relay, context: RespondContext): Promise<void> {
  const { upstream, options } = relay;
  writeHead(
    response,
    { status: upstream.status, headers: options.headers ?? relayedHeaders(upstream.headers) },
    context,
  );
  // The first token may be a minute away; the client should know now that it was accepted.
  response.flushHeaders();
  return new Promise((resolve) => {
    const writing = new RelayWriter(response, relay, context);
    const flow = consumeBody(upstream.body, writing);
    writing.flow = flow;
    const left = () => {
      void writing.settle(response.writableFinished ? undefined : new Error("the client left"));
      flow.abort();
      resolve();
    };
    if (response.closed) {
      left();
    } else {
      response.once("close", left);
    }
  });
}

/** Writes the pieces of one body; those of one socket read leave in one write. */
class RelayWriter implements BodyConsumer {
  flow: Flow | undefined;
  readonly #response: ServerResponse;
  readonly #options: RelayOptions;
  readonly #context: RespondContext;
  readonly #lines: LineSplitter | undefined;
  readonly #done: DoneFrame | undefined;
  #waiting: Buffer[] = [];
  #isSettled = false;

  constructor(response: ServerResponse, { upstream, options }: Relay, context: RespondContext) {
    this.#response = response;
    this.#options = options;
    this.#context = context;
    this.#lines = options.brokenFrame && new LineSplitter();
    // A whole answer in place of a stream has no such end.
    const isWhole = /json/i.test(String(upstream.headers["content-type"] ?? ""));
    this.#done = options.endsWithDone && !isWhole ? new DoneFrame() : undefined;
  }

  data(piece: Buffer): void {
    this.#options.tap?.(piece);
    const ready = this.#lines ? this.#lines.take(piece) : piece;
    this.#send(this.#options.rewriter?.push(ready) ?? ready);
  }

  end(): void {
    const { rewriter } = this.#options;
    const rest = this.#lines?.rest() ?? nothing;
    this.#send(rewriter ? Buffer.concat([rewriter.push(rest), rewriter.end()]) : rest);
    // Behind the flush of what came in this turn, which may have to wait for the reader.
    process.nextTick(() => {
      const settled = this.settle();
      if (settled === undefined) {
        this.#finish();
      } else {
        void settled.then(() => this.#finish());
      }
    });
  }

  failed(error: Error): void {
    process.nextTick(() => {
      void this.settle(error);
      this.#context.failed(error);
      if (this.#options.brokenFrame && !this.#response.destroyed) {
        this.#response.end(this.#options.brokenFrame(error));
      } else {
        this.#response.destroy();
      }
    });
  }

  /** Tells once how the body ended. */
  settle(error?: Error): Promise<void> | void {
    if (!this.#isSettled) {
      this.#isSettled = true;
      return this.#options.end?.(error);
    }
  }

  #send(piece: Buffer): void {
    if (piece.length > 0 && this.#waiting.push(piece) === 1) {
      process.nextTick(this.#flush);
    }
  }

  #flush = (): void => {
    const [first, ...others] = this.#waiting;
    this.#waiting = [];
    if (first === undefined) {
      return;
    }
    const bytes = others.length === 0 ? first : Buffer.concat([first, ...others]);
    this.#done?.add(bytes);
    if (!writeHttpChunk(this.#response, bytes) && this.flow) {
      this.flow.pause();
      onceDrained(this.#response, this.flow.resume);
    }
  };

  #finish(): void {
    this.#response.end(this.#done?.missing() || undefined);
  }
}

const nothing = Buffer.alloc(0);

const relayed = [
  "content-type",
  "retry-after",
  "retry-after-ms",
  "cache-control",
  "content-disposition",
  "x-request-id",
];

function relayedHeaders(headers: Relay["upstream"]["headers"]): OutgoingHttpHeaders {
  // An upstream's document must not run as a page of this origin, whatever type it claims to have.
  const result: OutgoingHttpHeaders = { "content-security-policy": "default-src 'none'; sandbox" };
  for (const name of relayed) {
    if (headers[name] !== undefined) {
      result[name] = headers[name];
    }
  }
  return result;
}
