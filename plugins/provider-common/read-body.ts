import type { Readable } from "node:stream";
import { AppError } from "#kernel/errors.ts";
import { toUpstreamError } from "./upstream-errors.ts";

/** Reads a whole body as text. Throws AppError `upstream` beyond `limit` bytes, and when the body breaks off. */
export async function readText(body: Readable, limit: number, signal?: AbortSignal): Promise<string> {
  const pieces: Buffer[] = [];
  let size = 0;
  try {
    for await (const piece of body as AsyncIterable<Buffer>) {
      size += piece.length;
      if (size > limit) {
        throw new AppError("upstream", `The provider's answer is larger than ${limit} bytes.`);
      }
      pieces.push(piece);
    }
  } catch (error) {
    throw toUpstreamError(error, signal);
  }
  return (pieces.length === 1 ? (pieces[0] as Buffer) : Buffer.concat(pieces, size)).toString("utf8");
}
