import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/** A TCP proxy before a database or Redis, which can simulate outages. */
export interface TcpProxy {
  readonly port: number;
  /** Breaks every connection and refuses new ones, as a server that is down does. */
  cut(): void;
  /** Passes no byte in either direction, as a cut cable does; new connections are accepted. */
  stall(): void;
  /** Breaks every connection that issues LISTEN, also later ones, so that no notification arrives. */
  cutListeners(): void;
  restore(): void;
  close(): Promise<void>;
}

export async function startTcpProxy(target: { host: string; port: number }): Promise<TcpProxy> {
  const sockets = new Set<Socket>();
  const listeners = new Set<Socket>();
  let state: "open" | "cut" | "stalled" | "without listeners" = "open";
  const track = (socket: Socket, other: () => Socket | undefined) => {
    sockets.add(socket);
    socket.on("error", () => {});
    socket.on("close", () => {
      sockets.delete(socket);
      listeners.delete(socket);
      other()?.destroy();
    });
  };
  const server = createServer({ noDelay: true }, (near) => {
    if (state === "cut") {
      near.on("error", () => {});
      near.resetAndDestroy();
      return;
    }
    const far = connect({ ...target, noDelay: true });
    track(near, () => far);
    track(far, () => near);
    near.on("data", (bytes) => {
      if (bytes.includes('listen "')) {
        listeners.add(near);
      }
      if (state === "without listeners" && listeners.has(near)) {
        near.resetAndDestroy();
      } else {
        far.write(bytes);
      }
    });
    far.on("data", (bytes) => void near.write(bytes));
    if (state === "stalled") {
      near.pause();
      far.pause();
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    cut() {
      state = "cut";
      sockets.forEach((socket) => socket.resetAndDestroy());
    },
    stall() {
      state = "stalled";
      sockets.forEach((socket) => socket.pause());
    },
    cutListeners() {
      state = "without listeners";
      listeners.forEach((socket) => socket.resetAndDestroy());
    },
    restore() {
      state = "open";
      sockets.forEach((socket) => socket.resume());
    },
    async close() {
      sockets.forEach((socket) => socket.destroy());
      server.close();
      await once(server, "close");
    },
  };
}
