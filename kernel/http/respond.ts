import type { OutgoingHttpHeaders, ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { chooseEncoding, compressBuffer, compressStream } from "./compress.ts";
import { toErrorFrame } from "./errors.ts";
import { toJson, toJsonWithBigInts } from "./json.ts";
import { Relay, Reply, Stream } from "./route.ts";

export interface RespondContext {
  readonly requestId: string;
  readonly acceptEncoding: string | undefined;
  readonly isHead: boolean;
  /** ENABLE_COMPRESSION_MIDDLEWARE. */
  readonly compress: boolean;
  /** ENABLE_ORJSON. */
  readonly fastJson: boolean;
  /** Headers of every answer: request id, CORS, nosniff. */
  readonly head: OutgoingHttpHeaders;
  /** When the request came in, as `performance.now()`. */
  readonly started: number;
  /** Called with what broke a stream after its head was sent. */
  failed(error: unknown): void;
}

/** Writes a handler's answer to the node response; resolves once the response has closed. */
export async function respond(
  response: ServerResponse,
  answer: unknown,
  context: RespondContext,
): Promise<void> {
  if (answer instanceof Relay) {
    return writeRelay(response, answer, context);
  }
  if (answer instanceof Stream) {
    return writeStream(response, answer, context);
  }
  const { value, status, headers } =
    answer instanceof Reply ? answer : { value: answer, status: 200, headers: {} };
  if (value instanceof Readable) {
    return writeReadable(response, { body: value, status, headers }, context);
  }
  if (value === undefined) {
    return finish(response, { status: status === 200 ? 204 : status, headers }, context);
  }
  const { body, contentType } = toBody(value, context.fastJson);
  return writeWhole(
    response,
    { body, status, headers: { "content-type": contentType, ...headers } },
    context,
  );
}

/** Writes a body that is complete already; compresses it where that pays. */
export async function writeWhole(
  response: ServerResponse,
  { body, status, headers }: WholeBody,
  context: RespondContext,
): Promise<void> {
  const length = typeof body === "string" ? Buffer.byteLength(body) : body.length;
  const encoding =
    context.compress && !headers["content-encoding"]
      ? chooseEncoding(context.acceptEncoding, String(headers["content-type"] ?? ""), length)
      : undefined;
  if (encoding === undefined) {
    const sent = { ...headers, "content-length": length };
    return finish(response, { status, headers: sent, body: context.isHead ? undefined : body }, context);
  }
  const packed = await compressBuffer(encoding, Buffer.from(body as string));
  const extra = { "content-encoding": encoding, vary: "Accept-Encoding", "content-length": packed.length };
  const answer = { status, headers: { ...headers, ...extra }, body: context.isHead ? undefined : packed };
  return finish(response, answer, context);
}

interface WholeBody extends Head {
  /** Text stays text: node sends it together with the head in one write. */
  readonly body: string | Buffer;
}

function toBody(value: unknown, fastJson: boolean): { body: string | Buffer; contentType: string } {
  if (typeof value === "string") {
    return { body: value, contentType: "text/plain; charset=utf-8" };
  }
  if (value instanceof Uint8Array) {
    const body = Buffer.from(value.buffer, value.byteOffset, value.byteLength);
    return { body, contentType: "application/octet-stream" };
  }
  return { body: fastJson ? toJson(value) : toJsonWithBigInts(value), contentType: "application/json" };
}

/** Every head is written here, so that none lacks the common headers. */
function writeHead(response: ServerResponse, { status, headers }: Head, context: RespondContext): void {
  const seconds = ((performance.now() - context.started) / 1000).toFixed(4);
  const both = context.head["vary"] !== undefined && headers["vary"] !== undefined;
  const vary = both ? { vary: `${context.head["vary"]}, ${headers["vary"]}` } : {};
  response.writeHead(status, { ...context.head, "x-process-time": seconds, ...headers, ...vary });
}

interface Head {
  readonly status: number;
  readonly headers: OutgoingHttpHeaders;
}

function finish(
  response: ServerResponse,
  answer: Head & { body?: string | Buffer | undefined },
  context: RespondContext,
): Promise<void> {
  if (response.destroyed || response.writableEnded) {
    return Promise.resolve();
  }
  const closed = whenClosed(response);
  writeHead(response, answer, context);
  response.end(answer.body);
  return closed;
}

async function writeReadable(
  response: ServerResponse,
  { body, status, headers }: { body: Readable; status: number; headers: OutgoingHttpHeaders },
  context: RespondContext,
): Promise<void> {
  const size = headers["content-length"] === undefined ? undefined : Number(headers["content-length"]);
  const encoding =
    context.compress && status === 200 && !headers["content-encoding"] && !headers["accept-ranges"]
      ? chooseEncoding(context.acceptEncoding, String(headers["content-type"] ?? ""), size)
      : undefined;
  if (context.isHead) {
    body.destroy();
    return finish(response, { status, headers }, context);
  }
  const sent = { ...headers };
  if (encoding) {
    delete sent["content-length"];
    Object.assign(sent, { "content-encoding": encoding, vary: "Accept-Encoding" });
  }
  writeHead(response, { status, headers: sent }, context);
  try {
    await (encoding ? pipeline(body, compressStream(encoding), response) : pipeline(body, response));
  } catch (error) {
    response.destroy();
    context.failed(error);
  }
}

/** Text frames; the head goes out at once, a failure becomes the last frame. */
async function writeStream(response: ServerResponse, answer: Stream, context: RespondContext): Promise<void> {
  const closed = whenClosed(response);
  const headers = {
    "content-type": answer.contentType,
    "cache-control": "no-cache",
    "x-accel-buffering": "no",
    ...answer.headers,
  };
  writeHead(response, { status: 200, headers }, context);
  response.flushHeaders();
  const frames = answer.frames[Symbol.asyncIterator]();
  const leave = () => void Promise.resolve(frames.return?.()).catch(context.failed);
  response.once("close", leave);
  try {
    for (let next = await frames.next(); next.done !== true; next = await frames.next()) {
      if (response.destroyed) {
        break;
      }
      if (!response.write(next.value)) {
        await drained(response);
      }
    }
  } catch (error) {
    if (!response.destroyed) {
      context.failed(error);
      response.write(`data: ${toErrorFrame(error, context.requestId)}\n\n`);
    }
  }
  response.off("close", leave);
  response.end();
  return closed;
}

/** Passes an upstream's bytes on as they come; a client that leaves aborts the upstream at once. */
function writeRelay(
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
      if (pieces.length > 0 && !response.write(pieces.length === 1 ? pieces[0] : Buffer.concat(pieces))) {
        body.pause();
      }
    };
    body.on("data", (piece: Buffer) => {
      options.tap?.(piece);
      if (waiting.push(piece) === 1) {
        process.nextTick(flush);
      }
    });
    response.on("drain", () => body.resume());
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

function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      response.off("drain", done);
      response.off("close", done);
      resolve();
    };
    response.on("drain", done);
    response.on("close", done);
  });
}

function whenClosed(response: ServerResponse): Promise<void> {
  return response.closed
    ? Promise.resolve()
    : new Promise((resolve) => response.once("close", () => resolve()));
}
