import type { OutgoingHttpHeaders, ServerResponse } from "node:http";
import { type RespondContext, writeHead } from "./head.ts";
import { onceDrained, writePiece } from "./piece.ts";
import type { Relay } from "./route.ts";

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
    let ended = false;
    const settle = (error?: Error) => {
      if (!ended) {
        ended = true;
        options.end?.(error);
      }
    };
    // One socket read brings many small pieces; they leave in one write.
    let waiting: Buffer[] = [];
    const flush = () => {
      const pieces = waiting;
      waiting = [];
      if (pieces.length > 0 && !writePiece(response, join(pieces)) && !body.isPaused()) {
        body.pause();
        onceDrained(response, () => body.resume());
      }
    };
    body.on("data", (piece: Buffer) => {
      options.tap?.(piece);
      if (waiting.push(piece) === 1) {
        process.nextTick(flush);
      }
    });
    const broke = (error: Error) => {
      if (!ended) {
        flush();
        settle(error);
        context.failed(error);
        if (options.brokenFrame && !response.destroyed) {
          response.end(options.brokenFrame(error));
        } else {
          response.destroy();
        }
      }
    };
    body.once("end", () => {
      flush();
      settle();
      response.end();
    });
    body.once("error", broke);
    response.once("close", () => {
      settle(response.writableFinished ? undefined : new Error("the client left"));
      body.destroy();
      resolve();
    });
    // An upstream that broke before anybody listened says nothing more.
    if (body.errored || body.destroyed) {
      broke(body.errored ?? new Error("the upstream closed early"));
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
