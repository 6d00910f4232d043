import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";

/** A TCP proxy before a database, which can drop the answer to one statement. */
export interface AnswerDroppingProxy {
  readonly port: number;
  /**
   * Passes the next statement that contains `text` on, drops its answer and breaks the connection a moment later: the
   * statement takes effect, and the server cannot know. Resolves when the connection is broken.
   */
  dropAnswerTo(text: string): Promise<void>;
  close(): Promise<void>;
}

/** Longer than any statement of a test takes. */
const doneMs = 700;

export async function startAnswerDroppingProxy(target: {
  host: string;
  port: number;
}): Promise<AnswerDroppingProxy> {
  const sockets = new Set<Socket>();
  let wanted: { text: string; dropped(): void } | undefined;
  const server = createServer({ noDelay: true }, (near) => {
    const far = connect({ ...target, noDelay: true });
    let isDropping = false;
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
    far.on("data", (bytes) => void (isDropping || near.write(bytes)));
    near.on("data", (bytes) => {
      const found = wanted && bytes.includes(wanted.text) ? wanted : undefined;
      if (found) {
        wanted = undefined;
        isDropping = true;
        void pause(doneMs).then(() => {
          near.resetAndDestroy();
          found.dropped();
        });
      }
      far.write(bytes);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    dropAnswerTo: (text) => new Promise<void>((dropped) => (wanted = { text, dropped })),
    async close() {
      sockets.forEach((socket) => socket.destroy());
      server.close();
      await once(server, "close");
    },
  };
}
