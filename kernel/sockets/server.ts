import { type IncomingMessage, STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import type { Authenticator } from "#kernel/access/authenticator.ts";
import { AppError } from "#kernel/errors.ts";
import { toErrorAnswer } from "#kernel/http/errors.ts";
import type { ClientAddress } from "#kernel/http/forwarded.ts";
import type { Logger } from "#kernel/log.ts";
import { defineService } from "#kernel/service.ts";
import type { OwnedSocketHandler } from "./handler.ts";

/** Dependencies of a socket server: the handlers of all plugins, and the authentication of upgrade requests. */
export interface SocketServerParts {
  readonly handlers: readonly OwnedSocketHandler[];
  readonly authenticator: Authenticator;
  readonly clientAddress: ClientAddress;
  /** CORS_ALLOW_ORIGIN. */
  origins(): readonly string[];
}

/** The open WebSockets of a server. */
export interface Sockets {
  /** Whether a request is one for a WebSocket of ours; any other is answered as plain HTTP. */
  isOurs(req: IncomingMessage): boolean;
  /** Takes a connection over. Rejects with an AppError when it is refused. */
  upgrade(req: IncomingMessage, socket: Duplex, head: Buffer): Promise<void>;
  /** Asks every client to connect again, elsewhere if they can; from now on new ones are refused. */
  close(): void;
  /** Breaks what is still open. */
  terminate(): void;
}

/** Opens the WebSocket side of the listener once all plugins are set up; without it every upgrade is plain HTTP. */
export interface SocketServer {
  open(parts: SocketServerParts): Sockets;
}
export const socketServer = defineService<SocketServer>("socket-server");

/** Several servers of WebSockets as one: the first whose address it is takes a connection. */
export function joinSockets(servers: readonly Sockets[]): Sockets {
  return {
    isOurs: (req) => servers.some((server) => server.isOurs(req)),
    async upgrade(req, socket, head) {
      const server = servers.find((one) => one.isOurs(req));
      if (server === undefined) {
        throw new AppError("not_found", "Not found");
      }
      await server.upgrade(req, socket, head);
    },
    close: () => servers.forEach((server) => server.close()),
    terminate: () => servers.forEach((server) => server.terminate()),
  };
}

/** Wraps `sockets` for the listener: a refused request is answered as an HTTP error, and any other failure is logged. */
export function mountSockets(sockets: Sockets, log: Logger): Sockets {
  return {
    ...sockets,
    async upgrade(req, socket, head) {
      // A client that leaves while its credential is checked must not take the process along.
      socket.on("error", () => socket.destroy());
      try {
        await sockets.upgrade(req, socket, head);
      } catch (error) {
        if (!(error instanceof AppError)) {
          log.error({ err: error }, "a WebSocket could not be opened");
        }
        refuse(socket, error);
      }
    },
  };
}

function refuse(socket: Duplex, error: unknown): void {
  const known =
    error instanceof AppError ? error : new AppError("unavailable", "The server could not do this.");
  const { status, body } = toErrorAnswer(known, { shape: "detail", invalidStatus: 400, requestId: "" });
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\ncontent-type: application/json\r\n` +
      `content-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
    () => socket.destroy(),
  );
}
