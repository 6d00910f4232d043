import type { ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { setTimeout as delay } from "node:timers/promises";
import type { Encoding } from "./compress.ts";
import { createCompressor, gzip } from "./compress-stream.ts";
import { onceDrained, writePieces } from "./http-chunk.ts";

/** What leaves in one write. Buffers are passed on without a copy: nobody may change them any more. */
export type BodyStep = string | Buffer | readonly Buffer[];

/** The bytes of one step. */
export function toPieces(step: BodyStep): readonly Buffer[] {
  if (typeof step === "string") {
    return [Buffer.from(step)];
  }
  return Buffer.isBuffer(step) ? [step] : step;
}

/** A body that is made while it is sent, step by step. */
export class LongBody {
  readonly steps: AsyncIterable<BodyStep>;

  constructor(steps: AsyncIterable<BodyStep>) {
    this.steps = steps;
  }
}

/** Sends a body whose head was written; gives it up when its reader leaves. Rejects when it cannot be made to its end. */
export async function sendLongBody(
  response: ServerResponse,
  body: Readable | LongBody,
  encoding: Encoding | undefined,
): Promise<void> {
  if (body instanceof LongBody) {
    await send(response, body, encoding);
    return;
  }
  response.once("close", () => body.destroy());
  try {
    await send(response, body, encoding);
  } finally {
    // A reader that left before it was begun, too.
    body.destroy();
  }
}

async function send(
  response: ServerResponse,
  body: Readable | LongBody,
  encoding: Encoding | undefined,
): Promise<void> {
  if (encoding === "br" || encoding === "zstd") {
    const bytes = body instanceof Readable ? body : Readable.from(toBytes(body.steps), { objectMode: false });
    await pipeline(bytes, createCompressor(encoding), response);
  } else if (encoding === "gzip") {
    await sendSteps(response, (isBehind) => gzip(toSteps(body), isBehind));
  } else if (body instanceof Readable) {
    await pipeline(body, response);
  } else {
    await sendSteps(response, () => toSteps(body));
  }
}

type IsBehind = (ms: number) => Promise<boolean>;

/** One step leaves while the next one is made. */
async function sendSteps(
  response: ServerResponse,
  open: (isBehind: IsBehind) => AsyncGenerator<readonly Buffer[]>,
): Promise<void> {
  let leaving: Promise<void> | undefined;
  const steps = open(async (ms) =>
    leaving === undefined ? false : await Promise.race([leaving.then(() => false), delay(ms, true)]),
  );
  // Before its next step it is told that nobody wants it.
  response.once("close", () => void steps.return(undefined).catch(() => {}));
  response.flushHeaders();
  for await (const pieces of steps) {
    await leaving;
    if (response.destroyed) {
      return;
    }
    leaving = writePieces(response, pieces)
      ? undefined
      : new Promise((resolve) => onceDrained(response, resolve));
  }
  await leaving;
  response.end();
}

async function* toSteps(body: Readable | LongBody): AsyncGenerator<readonly Buffer[]> {
  for await (const step of body instanceof LongBody ? body.steps : (body as AsyncIterable<Buffer>)) {
    yield toPieces(step);
  }
}

async function* toBytes(steps: AsyncIterable<BodyStep>): AsyncGenerator<Buffer> {
  for await (const step of steps) {
    yield Buffer.concat(toPieces(step));
  }
}
