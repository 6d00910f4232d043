import { type Dispatcher, WebSocket } from "undici";
import { AppError } from "#kernel/errors.ts";
import { toEgressError } from "./failure.ts";

/** An open WebSocket to an upstream. */
export type UpstreamSocket = WebSocket;

/** One handshake on one pool. */
export interface SocketCall {
  readonly url: URL;
  readonly headers: Record<string, string>;
  readonly protocols: readonly string[];
  readonly signal: AbortSignal | undefined;
  /** Milliseconds until the connection stands, null for no limit. */
  readonly timeoutMs: number | null;
}

/**
 * Opens a WebSocket over a pool. Rejects with AppErrors; the caller's own abort comes back as the reason of its signal
 * and closes an open socket, too.
 */
export function openSocket(dispatcher: Dispatcher, call: SocketCall): Promise<UpstreamSocket> {
  const { url, headers, protocols, signal, timeoutMs } = call;
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(toEgressError(signal.reason, signal));
      return;
    }
    const address = url.href.replace(/^http/, "ws");
    const socket = new WebSocket(address, { dispatcher, headers, protocols: [...protocols] });
    socket.binaryType = "arraybuffer";
    const close = () => socket.close();
    const timer = timeoutMs === null ? undefined : setTimeout(() => fail(toLate()), timeoutMs);
    const abort = () => fail(toEgressError(signal?.reason, signal));
    const release = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", abort);
    };
    function fail(error: Error): void {
      release();
      reject(error);
      socket.close();
    }
    signal?.addEventListener("abort", abort, { once: true });
    socket.addEventListener("open", () => {
      release();
      signal?.addEventListener("abort", close, { once: true });
      socket.addEventListener("close", () => signal?.removeEventListener("abort", close));
      resolve(socket);
    });
    socket.addEventListener("error", ({ error }) => fail(toEgressError(error, signal)));
  });
}

function toLate(): AppError {
  return new AppError("timeout", "The upstream could not be reached in time.");
}
