import { Worker } from "node:worker_threads";
import { AppError } from "#kernel/errors.ts";
import type { ThreadCall, ThreadModel, ThreadReply, ThreadRequest } from "./thread-protocol.ts";

/** What runs beside the event loop: embedding takes some 80 ms of a processor for each passage. */
export interface TextThread {
  embed(model: ThreadModel, texts: readonly string[], urgent: boolean): Promise<readonly Float32Array[]>;
  /** The text search configuration of a text. */
  detect(text: string): Promise<string>;
  close(): Promise<void>;
}

interface Waiting {
  resolve(reply: ThreadReply): void;
  reject(error: Error): void;
}

/** The thread starts with the first call, and anew after it died. */
export function createTextThread(): TextThread {
  let worker: Worker | undefined;
  let lastId = 0;
  const waiting = new Map<number, Waiting>();

  function start(): Worker {
    const started = new Worker(new URL("./thread-worker.ts", import.meta.url), { name: "embedding" });
    started.on("message", (reply: ThreadReply) => {
      const entry = waiting.get(reply.id);
      waiting.delete(reply.id);
      if ("error" in reply) {
        entry?.reject(new AppError("unavailable", toDetail(reply), { cause: new Error(reply.error) }));
      } else {
        entry?.resolve(reply);
      }
    });
    const fail = (cause: unknown) => {
      if (worker === started) {
        worker = undefined;
        waiting.forEach((entry) =>
          entry.reject(new AppError("unavailable", "The embedding model stopped.", { cause })),
        );
        waiting.clear();
      }
    };
    started.on("error", fail);
    started.on("exit", fail);
    // A host that stops does not wait for passages that are not embedded yet.
    started.unref();
    return started;
  }

  const call = <R extends ThreadReply>(given: ThreadCall) =>
    new Promise<R>((resolve, reject) => {
      worker ??= start();
      lastId += 1;
      waiting.set(lastId, { resolve: resolve as Waiting["resolve"], reject });
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker thread has no origin
      worker.postMessage({ ...given, id: lastId } satisfies ThreadRequest);
    });

  return {
    embed: async (model, texts, urgent) =>
      (await call<{ id: number; vectors: readonly Float32Array[] }>({ op: "embed", model, texts, urgent }))
        .vectors,
    detect: async (text) =>
      (await call<{ id: number; language: string }>({ op: "detect", text, urgent: true })).language,
    async close() {
      const last = worker;
      worker = undefined;
      waiting.forEach((entry) => entry.reject(new AppError("unavailable", "The server stops.")));
      waiting.clear();
      await last?.terminate();
    },
  };
}

function toDetail({ error, isForPeople }: { error: string; isForPeople: boolean }): string {
  return isForPeople ? error : "The embedding model failed.";
}
