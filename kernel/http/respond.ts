import type { OutgoingHttpHeaders, ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { type Pushable, toPushable } from "#kernel/completion/push.ts";
import { chooseEncoding, compressBuffer } from "./compress.ts";
import { toErrorFrame } from "./errors.ts";
import { toJson, toJsonWithBigInts } from "./json.ts";
import { type Head, type RespondContext, writeHead } from "./head.ts";
import { endBatched } from "./end-batched.ts";
import { LongBody, sendLongBody } from "./long-body.ts";
import { onceDrained, writeHttpChunk } from "./http-chunk.ts";
import { writeRelay } from "./relay.ts";
import { Relay, Reply, Stream } from "./route.ts";

/** Writes a handler's answer to the node response; what it answers resolves once nothing is left to write. */
export function respond(
  response: ServerResponse,
  answer: unknown,
  context: RespondContext,
): Promise<void> | undefined {
  if (answer instanceof Relay) {
    return writeRelay(response, answer, context);
  }
  if (answer instanceof Stream) {
    return writeStream(response, answer, context);
  }
  const { value, status, headers } =
    answer instanceof Reply ? answer : { value: answer, status: 200, headers: {} };
  if (value instanceof Readable || value instanceof LongBody) {
    return writeLong(response, { body: value, status, headers }, context);
  }
  if (value === undefined) {
    finish(response, { status: status === 200 ? 204 : status, headers }, context);
    return undefined;
  }
  const { body, contentType } = toBody(value, context.fastJson);
  return writeWhole(
    response,
    { body, status, headers: { "content-type": contentType, ...headers } },
    context,
  );
}

/** Writes a body that is complete already; compresses it where that pays. */
export function writeWhole(
  response: ServerResponse,
  { body, status, headers }: WholeBody,
  context: RespondContext,
): Promise<void> | undefined {
  const length = typeof body === "string" ? Buffer.byteLength(body) : body.length;
  const encoding =
    context.compress && !headers["content-encoding"]
      ? chooseEncoding(context.acceptEncoding, String(headers["content-type"] ?? ""), length)
      : undefined;
  if (encoding === undefined) {
    const sent = { ...headers, "content-length": length };
    finish(response, { status, headers: sent, body: context.isHead ? undefined : body }, context);
    return undefined;
  }
  return compressBuffer(encoding, Buffer.from(body as string)).then((packed) => {
    const extra = { "content-encoding": encoding, vary: "Accept-Encoding", "content-length": packed.length };
    const answer = { status, headers: { ...headers, ...extra }, body: context.isHead ? undefined : packed };
    finish(response, answer, context);
  });
}

export interface WholeBody extends Head {
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

function finish(
  response: ServerResponse,
  answer: Head & { body?: string | Buffer | undefined },
  context: RespondContext,
): void {
  if (!response.destroyed && !response.writableEnded) {
    writeHead(response, answer, context);
    endBatched(response, answer.body);
  }
}

async function writeLong(
  response: ServerResponse,
  { body, status, headers }: { body: Readable | LongBody; status: number; headers: OutgoingHttpHeaders },
  context: RespondContext,
): Promise<void> {
  const size = headers["content-length"] === undefined ? undefined : Number(headers["content-length"]);
  const encoding =
    context.compress && status === 200 && !headers["content-encoding"] && !headers["accept-ranges"]
      ? chooseEncoding(context.acceptEncoding, String(headers["content-type"] ?? ""), size, {
          isStream: true,
        })
      : undefined;
  if (context.isHead) {
    if (body instanceof Readable) {
      body.destroy();
    }
    return finish(response, { status, headers }, context);
  }
  const sent = { ...headers };
  if (encoding) {
    delete sent["content-length"];
    Object.assign(sent, { "content-encoding": encoding, vary: "Accept-Encoding" });
  }
  writeHead(response, { status, headers: sent }, context);
  try {
    await sendLongBody(response, body, encoding);
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
  pushFrames(response, toPushable(answer.frames), context);
  return closed;
}

type Frame = string | Uint8Array;

/** The frames come as they are made. */
function pushFrames(response: ServerResponse, frames: Pushable<Frame>, context: RespondContext): void {
  const flow = frames.pushTo({
    next(frame) {
      const isTaken = response.destroyed || writeHttpChunk(response, frame);
      if (!isTaken) {
        onceDrained(response, flow.resume);
      }
      return isTaken;
    },
    end: () => response.end(),
    failed(error) {
      writeBroken(response, error, context);
      response.end();
    },
  });
  if (response.closed) {
    void flow.abort();
  } else {
    response.once("close", () => void flow.abort());
  }
}

/** A stream that broke off says so in its last frame. */
function writeBroken(response: ServerResponse, error: unknown, context: RespondContext): void {
  if (!response.destroyed) {
    context.failed(error);
    response.write(`data: ${toErrorFrame(error, context.requestId)}\n\n`);
  }
}

function whenClosed(response: ServerResponse): Promise<void> {
  return response.closed
    ? Promise.resolve()
    : new Promise((resolve) => response.once("close", () => resolve()));
}
