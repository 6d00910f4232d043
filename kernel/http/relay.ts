import type { OutgoingHttpHeaders, ServerResponse } from "node:http";
import { receive } from "#kernel/egress/direct-body.ts";
import { type RespondContext, writeHead } from "./head.ts";
import { onceDrained, writeHttpChunk } from "./http-chunk.ts";
import type { Relay } from "./route.ts";
import { LineSplitter } from "./line-splitter.ts";

/** Passes an upstream's bytes on as they come; a client that leaves aborts the upstream at once. */
export function writeRelay(
  response: ServerResponse,
  { upstream, options }: Relay,
  context: RespondContext,
): Promise<void> {
  const { body } = upstream;
  writeHead(
    response,
    { status: upstream.status, headers: options.headers ?? relayedHeaders(upstream.headers) },
    context,
  );
  // The first token may be a minute away; the client should know now that it was accepted.
  response.flushHeaders();
  return new Promise((resolve) => {
    let isSettled = false;
    const settle = (error?: Error): Promise<void> | void => {
      if (!isSettled) {
        isSettled = true;
        return options.end?.(error);
      }
    };
    const finish = () => response.end();
    // One socket read brings many small pieces; they leave in one write.
    let waiting: Buffer[] = [];
    const lines = options.brokenFrame && new LineSplitter();
    const send = (piece: Buffer) => {
      if (piece.length > 0 && waiting.push(piece) === 1) {
        process.nextTick(flush);
      }
    };
    const flush = () => {
      const pieces = waiting;
      waiting = [];
      if (pieces.length > 0 && !writeHttpChunk(response, join(pieces))) {
        flow.pause();
        onceDrained(response, flow.resume);
      }
    };
    const flow = receive(body, {
      data(piece) {
        options.tap?.(piece);
        send(lines ? lines.take(piece) : piece);
      },
      end() {
        if (lines) {
          send(lines.rest());
        }
        // Behind the flush of what came in this turn, which may have to wait for the reader.
        process.nextTick(() => {
          const settled = settle();
          if (settled === undefined) {
            finish();
          } else {
            void settled.then(finish);
          }
        });
      },
      failed(error) {
        process.nextTick(() => {
          void settle(error);
          context.failed(error);
          if (options.brokenFrame && !response.destroyed) {
            response.end(options.brokenFrame(error));
          } else {
            response.destroy();
          }
        });
      },
    });
    const left = () => {
      void settle(response.writableFinished ? undefined : new Error("the client left"));
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

function join(pieces: readonly Buffer[]): Buffer {
  return pieces.length === 1 ? (pieces[0] as Buffer) : Buffer.concat(pieces);
}
