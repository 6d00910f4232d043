import { once } from "node:events";
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import type { Duplex } from "node:stream";

/** A proxy before the platform, as they stand in offices and before homes. */
export interface HttpProxy {
  readonly port: number;
  /** How many were cut. */
  readonly cuts: number;
  close(): Promise<void>;
}

export interface HttpProxyOptions {
  /** Passes WebSockets on; others pass the request on as one for a page. */
  readonly passesUpgrades?: boolean;
  /** Passes an answer on once it is whole. */
  readonly buffers?: boolean;
  /** Milliseconds after which an answer that goes on, or a WebSocket, is cut. */
  readonly cutsAfterMs?: number;
}

/** Of one connection alone: a proxy does not pass them on. */
const hopHeaders = ["connection", "upgrade", "keep-alive", "transfer-encoding"];

export async function startHttpProxy(
  target: { readonly host: string; readonly port: number },
  { passesUpgrades = false, buffers = false, cutsAfterMs }: HttpProxyOptions = {},
): Promise<HttpProxy> {
  const sockets = new Set<Duplex>();
  let cuts = 0;
  const cut = (socket: Duplex) => {
    if (cutsAfterMs !== undefined) {
      const timer = setTimeout(() => {
        cuts += 1;
        socket.destroy();
      }, cutsAfterMs);
      socket.on("close", () => clearTimeout(timer));
    }
  };
  const server = createServer((near, answer) => pass({ near, answer, target, buffers, cut }));
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    socket.on("close", () => sockets.delete(socket));
  });
  if (passesUpgrades) {
    server.on("upgrade", (near: IncomingMessage, socket: Duplex, head: Buffer) => {
      cut(socket);
      const far = connect(target, () => {
        const lines = near.rawHeaders.flatMap((name, at, all) => (at % 2 ? [] : [`${name}: ${all[at + 1]}`]));
        far.write(`${[`${near.method} ${near.url} HTTP/1.1`, ...lines].join("\r\n")}\r\n\r\n`);
        far.write(head);
        far.pipe(socket).pipe(far);
      });
      far.on("error", () => socket.destroy());
      far.on("close", () => socket.destroy());
      socket.on("close", () => far.destroy());
    });
  }
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    get cuts() {
      return cuts;
    },
    async close() {
      sockets.forEach((socket) => socket.destroy());
      server.close();
      await once(server, "close");
    },
  };
}

interface Passed {
  readonly near: IncomingMessage;
  readonly answer: ServerResponse;
  readonly target: { readonly host: string; readonly port: number };
  readonly buffers: boolean;
  cut(socket: Duplex): void;
}

function pass({ near, answer, target, buffers, cut }: Passed): void {
  const headers = Object.fromEntries(
    Object.entries(near.headers).filter(([name]) => !hopHeaders.includes(name)),
  );
  const far = request({ ...target, method: near.method, path: near.url, headers }, (found) => {
    const head = Object.fromEntries(
      Object.entries(found.headers).filter(([name]) => !hopHeaders.includes(name)),
    );
    const status = found.statusCode ?? 502;
    if (!buffers) {
      if (found.headers["content-type"]?.startsWith("text/event-stream")) {
        cut(near.socket);
      }
      answer.writeHead(status, head);
      answer.flushHeaders();
      found.pipe(answer);
      return;
    }
    const pieces: Buffer[] = [];
    found.on("data", (piece: Buffer) => pieces.push(piece));
    found.on("end", () => {
      answer.writeHead(status, head);
      answer.end(Buffer.concat(pieces));
    });
  });
  far.on("error", () => answer.destroy());
  answer.on("close", () => far.destroy());
  near.pipe(far);
}
