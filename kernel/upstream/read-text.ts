import type { Readable } from "node:stream";
import { type Flow, consumeBody } from "#kernel/egress/direct-body.ts";
import { AppError } from "#kernel/errors.ts";
import { toUpstreamError } from "./failure.ts";

/** Reads a whole body as text. Throws AppError `upstream` beyond `limit` bytes, and when the body breaks off. */
export function readText(body: Readable, limit: number, signal?: AbortSignal): Promise<string> {
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = [];
    let size = 0;
    const isTooLarge = () => size > limit;
    // Undefined while what came before anybody asked is handed over.
    let flow: Flow | undefined;
    flow = consumeBody(body, {
      data(piece) {
        size += piece.length;
        if (!isTooLarge()) {
          pieces.push(piece);
        } else {
          reject(new AppError("upstream", `The provider's answer is larger than ${limit} bytes.`));
          flow?.abort();
        }
      },
      end: () =>
        resolve((pieces.length === 1 ? (pieces[0] as Buffer) : Buffer.concat(pieces)).toString("utf8")),
      failed: (error) => reject(toUpstreamError(error, signal)),
    });
    if (isTooLarge()) {
      flow.abort();
    }
  });
}
