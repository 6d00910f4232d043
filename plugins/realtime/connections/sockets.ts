import type { IncomingMessage } from "node:http";
import type { Peer } from "crossws";
import nodeAdapter from "crossws/adapters/node";
import { AppError } from "#kernel/errors.ts";
import type { Sockets } from "#kernel/sockets/server.ts";
import { closing } from "#kernel/sockets/closing.ts";
import type { Connection, Opening, Protocol, ProtocolParts, Wire } from "./connection.ts";
import { openPlain } from "./plain.ts";
import { maxFrameBytes, openSocketIo } from "./socket-io.ts";

export interface SocketsOptions extends ProtocolParts {
  isEnabled(): boolean;
  /** WEBSOCKET_SERVER_LOGGING. */
  isLogging(): boolean;
}

const protocols: Readonly<Record<string, Protocol>> = { "/ws": openPlain, "/ws/socket.io": openSocketIo };
/** Bound of connections that are not signed in. */
const mostStrangers = 1_000;
/** Text, although it comes as bytes. Events are small and many: compressing each costs more than it saves. */
const sending = { compress: false, binary: false };
const limits = { maxPayload: maxFrameBytes, perMessageDeflate: false, closeTimeout: 2_000 };

/** Creates the WebSocket side of the server. */
export function createSockets(options: SocketsOptions): Sockets {
  const { admission, renewal } = options;
  const { adapter, connections } = createConnections(options);
  let isStopping = false;
  const requireRoom = () => {
    if (!options.isEnabled()) {
      throw new AppError("forbidden", "WebSockets are switched off.");
    }
    const strangers = connections.size < mostStrangers ? 0 : countStrangers(connections.values());
    if (isStopping || strangers >= mostStrangers) {
      throw new AppError("unavailable", "The server takes no new connections.");
    }
  };
  return {
    isOurs: (req) => toProtocol(req) !== undefined && req.headers.upgrade?.toLowerCase() === "websocket",
    async upgrade(req, socket, head) {
      requireRoom();
      const open = toProtocol(req) ?? notFound();
      const { changes } = renewal;
      const handshake = await admission.accept(req);
      // Again: checking a credential takes time, and a stop closes only what is open.
      requireRoom();
      const context = { open, handshake, changes };
      const request = Object.assign(new Request("http://socket/", { headers: toHeaders(req) }), { context });
      await adapter.handleUpgrade(req, socket, head, request);
    },
    close() {
      isStopping = true;
      renewal.stop();
      connections.forEach(({ session }) => session.end(closing.stopping));
    },
    terminate: () => adapter.closeAll(undefined, undefined, true),
  };
}

/** Brings protocols and WebSockets together. */
function createConnections(options: SocketsOptions) {
  const connections = new Map<Peer, Connection>();
  const report = (what: string, { session: { id, transport, principal } }: Connection) => {
    if (options.isLogging()) {
      options.log.info({ session: id, transport, user: principal?.userId ?? null }, what);
    }
  };
  const forget = (peer: Peer) => {
    const connection = connections.get(peer);
    if (connection !== undefined) {
      connections.delete(peer);
      connection.session.closed();
      options.members.remove(connection.session);
      connection.closed();
      report("a connection closed", connection);
    }
  };
  const adapter = nodeAdapter({
    idleTimeout: options.pingIntervalMs() / 1000,
    getNamespace: () => "sockets",
    serverOptions: limits,
    hooks: {
      open(peer) {
        const { open, ...opening } = peer.context as unknown as Omit<Opening, "wire"> & { open: Protocol };
        const connection = open(options, { ...opening, wire: toWire(peer) });
        connections.set(peer, connection);
        report("a connection opened", connection);
      },
      message(peer, message) {
        const connection = connections.get(peer);
        // Frames after our close are ignored.
        if (connection?.session.isOpen) {
          connection.receive(message.rawData as string | Buffer);
        }
      },
      close: forget,
      error: forget,
    },
  });
  return { adapter, connections };
}

function toProtocol({ url = "/" }: IncomingMessage): Protocol | undefined {
  return protocols[(url.split("?", 1)[0] as string).replace(/(?<=.)\/$/, "")];
}

function notFound(): never {
  throw new AppError("not_found", "Not found");
}

/** Only what concerns the handshake. */
function toHeaders({ headers }: IncomingMessage): Record<string, string> {
  const protocol = headers["sec-websocket-protocol"];
  return protocol === undefined ? {} : { "sec-websocket-protocol": protocol };
}

function toWire(peer: Peer): Wire {
  const socket = peer.websocket as unknown as { pause(): void; resume(): void };
  return {
    send: (frame) => Number(peer.send(frame, sending)),
    waiting: () => peer.bufferedAmount,
    close: ({ code, reason }) => peer.close(code, reason),
    pause: () => socket.pause(),
    resume: () => socket.resume(),
  };
}

function countStrangers(connections: Iterable<Connection>): number {
  let count = 0;
  for (const { session } of connections) {
    count += session.principal === undefined ? 1 : 0;
  }
  return count;
}
