import { WebSocket } from "ws";
import { AppError } from "#kernel/errors.ts";
import { createConnector, type ConnectorOptions } from "./connector.ts";
import { toEgressError } from "./failure.ts";
import { toTarget, toUrl, type Trust } from "./target.ts";

export interface WebSocketInit {
  readonly trust: Trust;
  readonly headers?: Readonly<Record<string, string>>;
  readonly protocols?: readonly string[];
  /** Largest message that is taken; a larger one ends the connection. */
  readonly maxBytes: number;
  /** Milliseconds until the connection stands. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

export type OpenWebSocketOptions = Omit<ConnectorOptions, "isChecked" | "isRaw" | "tls"> & {
  tls(): ConnectorOptions["tls"];
  allowedOrigins(): readonly string[];
};

/**
 * Opens a WebSocket to an http or https address, under the rules of all outbound requests; redirects are not followed.
 * Rejects with an AppError, or with the reason of the caller's signal. The socket is paused: nothing that comes before
 * `resume` is lost.
 */
export function openWebSocket(
  address: string | URL,
  init: WebSocketInit,
  { tls, allowedOrigins, ...options }: OpenWebSocketOptions,
): Promise<WebSocket> {
  const { url, isChecked } = toTarget(toUrl(address), init.trust, allowedOrigins());
  const connect = createConnector({ ...options, tls: tls(), isChecked, isRaw: true });
  const secure = url.protocol === "https:";
  const socket = new WebSocket(url.href.replace(/^http/, "ws"), [...(init.protocols ?? [])], {
    headers: { ...init.headers },
    handshakeTimeout: init.timeoutMs,
    maxPayload: init.maxBytes,
    perMessageDeflate: false,
    followRedirects: false,
    // The declared type of `createConnection` has the synchronous form alone; Node takes a callback as well.
    createConnection: ((_options: unknown, done: (error: Error | null, socket?: unknown) => void) => {
      const port = url.port || (secure ? "443" : "80");
      const { hostname, host, protocol } = url;
      connect({ hostname, host, protocol, port }, done as never);
    }) as never,
  });
  return whenOpen(socket, init.signal);
}

function whenOpen(socket: WebSocket, signal: AbortSignal | undefined): Promise<WebSocket> {
  return new Promise((resolve, reject) => {
    const leave = () => socket.terminate();
    const fail = (error: unknown) => {
      signal?.removeEventListener("abort", leave);
      reject(signal?.aborted ? signal.reason : toEgressError(error));
      socket.terminate();
    };
    // An error after the connection stands is followed by `close`, which is what users listen to.
    socket.on("error", fail);
    socket.once("unexpected-response", (request, response) => {
      request.destroy();
      fail(
        new AppError("upstream", `The upstream refused the connection with status ${response.statusCode}.`),
      );
    });
    socket.once("open", () => {
      signal?.removeEventListener("abort", leave);
      socket.pause();
      resolve(socket);
    });
    if (signal?.aborted) {
      leave();
    }
    signal?.addEventListener("abort", leave, { once: true });
  });
}
