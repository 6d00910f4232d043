import type { Readable } from "node:stream";
import { AppError } from "#kernel/errors.ts";
import { toUpstreamError } from "./upstream-errors.ts";

/** Reads a whole body as text. Throws AppError `upstream` beyond `limit` bytes, and when the body breaks off. */
export function readText(body: Readable, limit: number, signal?: AbortSignal): Promise<string> {
  // Plain events: an async iterator would cost more than the parsing of a usual answer.
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = [];
    let size = 0;
    let isDone = false;
    const fail = (error: unknown) => reject(toUpstreamError(error, signal));
    // The close after a regular end is no failure, and an error with its stack is not free.
    const broken = () => {
      if (!isDone) {
        fail(new AppError("upstream", "The provider broke off its answer."));
      }
    };
    body.on("data", (piece: Buffer) => {
      size += piece.length;
      if (size > limit) {
        fail(new AppError("upstream", `The provider's answer is larger than ${limit} bytes.`));
        body.destroy();
        return;
      }
      pieces.push(piece);
    });
    body.once("end", () => {
      isDone = true;
      resolve((pieces.length === 1 ? (pieces[0] as Buffer) : Buffer.concat(pieces, size)).toString("utf8"));
    });
    body.once("error", fail);
    // After the end this is one rejection too many, which a settled promise ignores.
    body.once("close", broken);
    if (body.destroyed) {
      fail(body.errored ?? new AppError("upstream", "The provider broke off its answer."));
    }
  });
}
