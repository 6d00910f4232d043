import { createConnection, createServer, type Socket } from "node:net";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { z } from "zod";
import { StorageError } from "../errors.ts";

/** What a command asks of the server that holds the embedded database. */
const Order = z.object({
  target: z.string(),
  /** Put into the backup as they are. */
  secrets: z.record(z.string(), z.string()).optional(),
});
export type Order = z.infer<typeof Order>;

const Answer = z.union([
  z.object({ step: z.string() }),
  z.object({ size: z.number() }),
  z.object({ error: z.string() }),
]);

/** A path of a socket is cut at 107 bytes. */
const longestPath = 100;
const pathOf = (dataDir: string) => join(dataDir, "backup.sock");

export interface Door {
  close(): Promise<void>;
}

/**
 * Takes orders of commands on this machine: a socket in DATA_DIR, which belongs to the user of the server. Who may connect
 * could read the database's files as well.
 */
export async function openDoor(
  dataDir: string,
  run: (order: Order, progress: (step: string) => void) => Promise<{ size: number }>,
  warn: (message: string) => void,
): Promise<Door> {
  const path = pathOf(dataDir);
  if (Buffer.byteLength(path) > longestPath) {
    warn(`The path ${path} is too long for a socket: stop the server before \`npm run backup\``);
    return { close: async () => {} };
  }
  // The lock on DATA_DIR says that nobody else listens there.
  await rm(path, { force: true });
  const server = createServer((socket) => {
    void serve(socket, run).catch((error: Error) =>
      warn(`An order for a backup broke off: ${error.message}`),
    );
  });
  server.unref();
  await new Promise<void>((resolve, reject) => server.once("error", reject).listen(path, resolve));
  return {
    close: async () => {
      await new Promise((resolve) => server.close(resolve));
      await rm(path, { force: true });
    },
  };
}

async function serve(socket: Socket, run: Parameters<typeof openDoor>[1]): Promise<void> {
  const answer = (line: z.infer<typeof Answer>) => void socket.write(`${JSON.stringify(line)}\n`);
  socket.on("error", () => {});
  for await (const line of createInterface({ input: socket })) {
    try {
      answer(await run(Order.parse(JSON.parse(line)), (step) => answer({ step })));
    } catch (error) {
      answer({ error: (error as Error).message });
    }
    break;
  }
  socket.end();
}

/** Lets the running server write a backup. Throws StorageError with its reason. */
export async function askServer(
  dataDir: string,
  order: Order,
  print: (line: string) => void,
): Promise<{ size: number }> {
  const socket = createConnection(pathOf(dataDir));
  const failed = new Promise<never>((_resolve, reject) => socket.once("error", reject));
  failed.catch(() => {});
  try {
    socket.write(`${JSON.stringify(order)}\n`);
    const read = async () => {
      for await (const line of createInterface({ input: socket })) {
        const answer = Answer.parse(JSON.parse(line));
        if ("size" in answer) {
          return answer;
        }
        if ("error" in answer) {
          throw new StorageError(answer.error);
        }
        print(answer.step);
      }
      throw new StorageError("The server stopped before the backup was complete.");
    };
    return await Promise.race([read(), failed]);
  } catch (error) {
    if (
      (error as NodeJS.ErrnoException).code === "ENOENT" ||
      (error as NodeJS.ErrnoException).code === "ECONNREFUSED"
    ) {
      throw new StorageError(
        "Another process uses the embedded database and takes no orders for backups. Stop it, or take the backup on the page Administration › Backups.",
      );
    }
    throw error;
  } finally {
    socket.destroy();
  }
}
