import type { IncomingMessage } from "node:http";
import { AppError } from "#kernel/errors.ts";

export interface BodyLimits {
  readonly maxBytes: number;
  /** Longest pause between two pieces, in milliseconds. */
  readonly idleMs: number;
  /** Longest time for the whole body, in milliseconds. */
  readonly totalMs: number;
}

/** Patience with slow senders of JSON bodies: a phone on a bad line passes, a slow-drip attack does not. */
export const defaultPatience = { idleMs: 20_000, totalMs: 120_000 } as const;

/** Reads a whole request body. Throws `too_large` beyond the limit, `slow` for a sender that drips, `invalid` when it breaks off. */
export function readBody(request: IncomingMessage, limits: BodyLimits): Promise<Buffer> {
  return read(request, limits, (body) => body);
}

/** The same as text. */
export function readText(request: IncomingMessage, limits: BodyLimits): Promise<string> {
  return read(request, limits, (body) => body.toString("utf8"));
}

function read<T>(request: IncomingMessage, limits: BodyLimits, as: (body: Buffer) => T): Promise<T> {
  if (Number(request.headers["content-length"] ?? 0) > limits.maxBytes) {
    return Promise.reject(tooLarge(limits.maxBytes));
  }
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = [];
    let size = 0;
    let idle: NodeJS.Timeout | undefined;
    let total: NodeJS.Timeout | undefined;
    let isSettled = false;

    const settle = (error?: AppError) => {
      if (isSettled) {
        return;
      }
      isSettled = true;
      clearTimeout(idle);
      clearTimeout(total);
      if (error) {
        request.off("data", take);
        // What was refused must not be held for as long as the rest of it takes to come.
        pieces.length = 0;
        reject(error);
      } else {
        resolve(as(pieces.length === 1 ? (pieces[0] as Buffer) : Buffer.concat(pieces, size)));
      }
    };
    const take = (piece: Buffer) => {
      size += piece.length;
      if (size > limits.maxBytes) {
        settle(tooLarge(limits.maxBytes));
        return;
      }
      pieces.push(piece);
      idle?.refresh();
    };
    const broke = () => settle(new AppError("invalid", "The request's body broke off."));
    const drips = () => settle(new AppError("request_timeout", "The request's body arrived too slowly."));

    request.on("data", take);
    request.on("end", () => settle());
    // A request that breaks off ends with an error for whoever listens.
    request.on("error", broke);
    // A body that came together with its head is complete in a moment: the timers are for those that did not. The next tick
    // would be too soon: node runs it between the body's last piece and noting that the request is complete.
    setImmediate(() => {
      if (request.complete || isSettled) {
        return;
      }
      if (request.destroyed) {
        broke();
      } else {
        idle = setTimeout(drips, limits.idleMs);
        total = setTimeout(drips, limits.totalMs);
      }
    });
  });
}

function tooLarge(maxBytes: number): AppError {
  return new AppError("too_large", `The request's body is larger than ${maxBytes} bytes.`);
}
