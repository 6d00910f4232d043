import { Worker } from "node:worker_threads";
import { UnavailableError, StorageError } from "../errors.ts";
import { fromPlainError, type Call, type Reply, type Request, type WorkerOptions } from "./protocol.ts";

/** The main thread's side of the database thread. */
export interface EmbeddedClient {
  readonly hasVector: boolean;
  call<R>(call: Call): Promise<R>;
  onNotification: (channel: string, payload: string) => void;
  /** Ends the thread; what still waits for it fails. */
  terminate(): Promise<void>;
}

/** Starts the database thread and resolves when the database is open. Throws StorageError when it cannot be. */
export function startClient(options: WorkerOptions, log: (message: string) => void): Promise<EmbeddedClient> {
  const worker = new Worker(new URL("./worker.ts", import.meta.url), {
    workerData: options,
    name: "database",
  });
  const waiting = new Map<number, { resolve(value: unknown): void; reject(error: unknown): void }>();
  let lastId = 0;
  let gone: Error | undefined;

  const client: EmbeddedClient & { hasVector: boolean } = {
    hasVector: false,
    onNotification: () => {},
    call: <R>(call: Call) =>
      new Promise<R>((resolve, reject) => {
        if (gone) {
          reject(gone);
          return;
        }
        lastId += 1;
        // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker thread has no origin
        worker.postMessage({ ...call, id: lastId } satisfies Request);
        waiting.set(lastId, { resolve: resolve as (value: unknown) => void, reject });
      }),
    async terminate() {
      gone ??= new UnavailableError("The database is closed");
      await worker.terminate();
    },
  };

  return new Promise((resolve, reject) => {
    const fail = (error: Error) => {
      if (!gone) {
        log(`The embedded database stopped: ${error.message}`);
      }
      gone ??= new UnavailableError("The embedded database stopped", { cause: error });
      waiting.forEach((entry) => entry.reject(gone));
      waiting.clear();
      reject(gone);
    };
    worker.on("error", fail);
    worker.on("exit", (code) => fail(new Error(`its thread ended with code ${code}`)));
    worker.on("message", (reply: Reply) => {
      if (reply.kind === "opened") {
        client.hasVector = reply.hasVector;
        resolve(client);
      } else if (reply.kind === "refused") {
        gone = new StorageError(
          `The embedded database in ${options.folder} cannot be opened: ${reply.error.message}`,
          {
            cause: fromPlainError(reply.error),
          },
        );
        reject(gone);
        void worker.terminate();
      } else if (reply.kind === "notification") {
        client.onNotification(reply.channel, reply.payload);
      } else {
        const entry = waiting.get(reply.id);
        waiting.delete(reply.id);
        if (reply.kind === "done") {
          entry?.resolve(reply.result);
        } else {
          entry?.reject(fromPlainError(reply.error));
        }
      }
    });
  });
}
