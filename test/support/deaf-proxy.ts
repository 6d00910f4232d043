import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";

/** Stands between a server and its database, and can keep the answer to one statement from it. */
export interface DeafProxy {
  readonly port: number;
  /**
   * Lets the next statement that holds `text` through, drops its answer and breaks the connection a moment later: it is
   * done, and nobody knows. Resolves when that has happened.
   */
  loseAnswerTo(text: string): Promise<void>;
  close(): Promise<void>;
}

/** Long enough for any statement of a test to be done. */
const doneMs = 700;

export async function startDeafProxy(target: { host: string; port: number }): Promise<DeafProxy> {
  const sockets = new Set<Socket>();
  let wanted: { text: string; lost(): void } | undefined;
  const server = createServer({ noDelay: true }, (near) => {
    const far = connect({ ...target, noDelay: true });
    let isDeaf = false;
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(socket);
      socket.on("error", () => {});
      socket.on("close", () => {
        sockets.delete(socket);
        other.destroy();
      });
    }
    far.on("data", (bytes) => void (isDeaf || near.write(bytes)));
    near.on("data", (bytes) => {
      const found = wanted && bytes.includes(wanted.text) ? wanted : undefined;
      if (found) {
        wanted = undefined;
        isDeaf = true;
        void pause(doneMs).then(() => {
          near.resetAndDestroy();
          found.lost();
        });
      }
      far.write(bytes);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    loseAnswerTo: (text) => new Promise<void>((lost) => (wanted = { text, lost })),
    async close() {
      sockets.forEach((socket) => socket.destroy());
      server.close();
      await once(server, "close");
    },
  };
}
