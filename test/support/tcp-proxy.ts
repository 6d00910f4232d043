import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/** Stands between a server and what it connects to, and can take it away. */
export interface TcpProxy {
  readonly port: number;
  /** Breaks every connection and refuses new ones, as a server that is down does. */
  cut(): void;
  /** Lets no byte through in either direction, as a dead cable does; new connections are taken and say nothing. */
  silence(): void;
  /** Breaks only the connections on which announcements are listened for, again and again. */
  deafen(): void;
  restore(): void;
  close(): Promise<void>;
}

export async function startTcpProxy(target: { host: string; port: number }): Promise<TcpProxy> {
  const sockets = new Set<Socket>();
  const listeners = new Set<Socket>();
  let state: "open" | "cut" | "silent" | "deaf" = "open";
  const keep = (socket: Socket, other: () => Socket | undefined) => {
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
    keep(near, () => far);
    keep(far, () => near);
    near.on("data", (bytes) => {
      if (bytes.includes('listen "')) {
        listeners.add(near);
      }
      if (state === "deaf" && listeners.has(near)) {
        near.resetAndDestroy();
      } else {
        far.write(bytes);
      }
    });
    far.on("data", (bytes) => void near.write(bytes));
    if (state === "silent") {
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
    silence() {
      state = "silent";
      sockets.forEach((socket) => socket.pause());
    },
    deafen() {
      state = "deaf";
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
