import type { Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { type RawRequest, responseHead } from "./upstream-http.ts";

/** A journal line: a request and its outcome. Times are milliseconds of `performance.now()`. */
export interface UpstreamRequest extends RawRequest {
  /** The parsed body when it is JSON, else its text; undefined when empty. */
  // oxlint-disable-next-line typescript/no-explicit-any -- tests look into bodies of every shape.
  readonly body: any;
  readonly receivedAt: number;
  /** When the script's first byte left. */
  answeredAt?: number;
  /** When the caller closed the connection before the script was through. */
  abortedAt?: number;
  /** Resolves with the time at which the caller closed the connection before the script was through. */
  readonly aborted: Promise<number>;
  /** Resolves when the script is through, whether or not the caller stayed. */
  readonly settled: Promise<void>;
}

/** The raw connection of one request, for a script that writes every byte itself. */
export interface Exchange {
  readonly request: UpstreamRequest;
  /** Aborted when the caller left or the upstream closes. */
  readonly gone: AbortSignal;
  /** Writes the status line and headers. */
  start(status: number, headers: Readonly<Record<string, string>>): Promise<void>;
  /** Writes raw bytes, in one piece; resolves when the kernel took them. Does nothing once the caller left. */
  write(data: string | Uint8Array): Promise<void>;
  /** Waits `ms` milliseconds, or until the caller leaves. */
  wait(ms: number): Promise<void>;
  /** Waits until the caller leaves. */
  hold(): Promise<void>;
  /** Breaks the connection with a TCP reset. */
  reset(): void;
  /** Closes the connection in the regular way. */
  end(): void;
}

export type Script = (exchange: Exchange) => Promise<void>;
/** Opens the journal line of a request that has just arrived. */
export function toJournal(
  raw: RawRequest,
  ends: Pick<UpstreamRequest, "aborted" | "settled">,
): UpstreamRequest {
  return { ...raw, ...ends, body: parseBody(raw), receivedAt: performance.now() };
}

/** Gives a script the connection of its request. */
export function createExchange(socket: Socket, request: UpstreamRequest, gone: AbortSignal): Exchange {
  const write = (data: string | Uint8Array) => {
    request.answeredAt ??= performance.now();
    return new Promise<void>((resolve) => (gone.aborted ? resolve() : socket.write(data, () => resolve())));
  };
  return {
    request,
    gone,
    write,
    start: (status, headers) => write(responseHead(status, headers)),
    wait: (ms) => delay(ms, undefined, { signal: gone }).catch(() => {}),
    hold: () =>
      new Promise((resolve) => (gone.aborted ? resolve() : gone.addEventListener("abort", () => resolve()))),
    reset: () => void socket.resetAndDestroy(),
    end: () => void socket.end(),
  };
}

function parseBody(raw: RawRequest): unknown {
  if (raw.bytes.length === 0) {
    return undefined;
  }
  const text = raw.bytes.toString();
  return raw.headers["content-type"]?.includes("json") ? JSON.parse(text) : text;
}
