import { Worker } from "node:worker_threads";
import { AppError } from "#kernel/errors.ts";
import { createFairQueue } from "#kernel/fair-queue.ts";
import type { Logger } from "#kernel/log.ts";
import type { ReadingLimits } from "../formats/reading.ts";
import type { ExtractedText, SourceDocument } from "../service.ts";
import type { Reply, Request } from "./protocol.ts";

export interface PoolOptions {
  readonly log: Logger;
  /** Threads at a time. */
  threads(): number;
  /** Megabytes that the reading of one document may take. */
  memory(): number;
  /** Seconds that the reading of one document may take. */
  seconds(): number;
  /** Seconds of a processor that the reading of one document may take. */
  cpuSeconds(): number;
  /** Bytes of the largest document. */
  maxBytes(): number;
  limits(): ReadingLimits;
}

/** Reads documents in worker threads, those of one person in turns with those of others. */
export interface ReadingPool {
  /**
   * Resolves to the text, or undefined for bytes that are no document. Rejects with an AppError `unprocessable` or
   * `too_large` that blames the document, with the signal's reason when it is aborted, or with another error when the
   * thread broke.
   */
  read(document: SourceDocument, signal: AbortSignal): Promise<ExtractedText | undefined>;
  close(): Promise<void>;
}

const idleMs = 30_000;
const lookMs = 250;
const megabyte = 1024 * 1024;

export function createReadingPool(options: PoolOptions): ReadingPool {
  const idle = new Set<Worker>();
  const all = new Set<Worker>();
  const inTurn = createFairQueue(options.threads);
  let isClosed = false;

  const start = () => {
    const worker = new Worker(new URL("./worker.ts", import.meta.url), {
      name: "extraction",
      execArgv: ["--disable-warning=ExperimentalWarning"],
      resourceLimits: { maxOldGenerationSizeMb: options.memory(), stackSizeMb: 8 },
      // A library that prints must not write into the log.
      stdout: true,
      stderr: true,
    });
    worker.setMaxListeners(0);
    // Between two documents nobody else listens, and an error without a listener ends the process.
    worker.on("error", () => idle.delete(worker));
    worker.on("exit", () => {
      idle.delete(worker);
      all.delete(worker);
    });
    worker.stdout.resume();
    worker.stderr.resume();
    worker.unref();
    all.add(worker);
    return worker;
  };

  const rest = (worker: Worker) => {
    idle.add(worker);
    setTimeout(() => {
      if (idle.delete(worker)) {
        void worker.terminate();
      }
    }, idleMs).unref();
  };

  const read = async (document: SourceDocument, signal: AbortSignal) => {
    const worker = idle.values().next().value ?? start();
    idle.delete(worker);
    let isSound = false;
    try {
      const reply = await readIn(worker, { document, signal, options });
      isSound = true;
      return resolveReply(reply, options.log);
    } finally {
      if (isSound && !isClosed) {
        rest(worker);
      } else {
        // A thread that has taken too much goes at once, with all that it holds; the next document gets a new one.
        await worker.terminate();
      }
    }
  };

  return {
    read: (document, signal) => inTurn(document.userId ?? "", () => read(document, signal), signal),
    async close() {
      isClosed = true;
      await Promise.all([...all].map((worker) => worker.terminate()));
    },
  };
}

function resolveReply(reply: Reply, log: Logger): ExtractedText | undefined {
  if (reply.kind === "done") {
    return reply.found;
  }
  if (reply.kind === "refused") {
    throw new AppError("unprocessable", reply.reason);
  }
  log.info({ problem: reply.message }, "a document could not be read");
  throw new AppError("unprocessable", "The document is damaged and cannot be read.");
}

interface Task {
  readonly document: SourceDocument;
  readonly signal: AbortSignal;
  readonly options: PoolOptions;
}

/** One document in one thread. Rejects, and leaves a thread that is not to be used again, when it takes too much. */
async function readIn(worker: Worker, { document, signal, options }: Task): Promise<Reply> {
  const { promise, resolve, reject } = Promise.withResolvers<Reply>();
  const deadline = setTimeout(
    () =>
      reject(
        new AppError("unprocessable", `Reading the document took longer than ${options.seconds()} seconds.`),
      ),
    options.seconds() * 1000,
  );
  const size = { bytes: 0 };
  const watch = watchUse(worker, { size, options, reject });
  const abort = () => reject(signal.reason as Error);
  const onError = (error: NodeJS.ErrnoException) =>
    reject(error.code === "ERR_WORKER_OUT_OF_MEMORY" ? toHungry() : toBroken(error));
  const onExit = () => reject(toBroken());
  worker.once("message", resolve);
  worker.once("error", onError);
  worker.once("exit", onExit);
  signal.addEventListener("abort", abort, { once: true });
  try {
    await Promise.race([send(worker, { document, options, size }), promise]);
    return await promise;
  } finally {
    clearTimeout(deadline);
    clearInterval(watch);
    worker.off("message", resolve);
    worker.off("error", onError);
    worker.off("exit", onExit);
    signal.removeEventListener("abort", abort);
  }
}

interface Sending extends Pick<Task, "document" | "options"> {
  /** Counts what was sent. */
  readonly size: { bytes: number };
}

async function send(worker: Worker, { document, options, size }: Sending): Promise<void> {
  const post = (request: Request, moved: ArrayBuffer[] = []) => worker.postMessage(request, moved);
  const most = options.maxBytes();
  for await (const piece of (await document.open()) as AsyncIterable<Uint8Array>) {
    size.bytes += piece.length;
    if (size.bytes > most) {
      throw new AppError(
        "too_large",
        `Documents larger than ${Math.round(most / megabyte)} MB are not read.`,
      );
    }
    // Streams lend out slices of shared buffers, which must not be moved to another thread.
    const bytes = Uint8Array.from(piece);
    post({ kind: "bytes", bytes }, [bytes.buffer]);
  }
  post({ kind: "read", name: document.name, type: document.type, limits: options.limits() });
}

interface Watching extends Pick<Sending, "options" | "size"> {
  reject(error: unknown): void;
}

/** Readers hold the bytes of a document up to three times: as sent, in one piece, and in the hands of a library. */
const copies = 3;

/**
 * Looks at a thread from outside, since code that is caught in a document does not look at itself: at its time on a
 * processor, and at the memory outside of its heap, such as unpacked bytes. The heap has its own limit.
 */
function watchUse(worker: Worker, { options, size, reject }: Watching): NodeJS.Timeout {
  // A thread that has not begun has used nothing yet, and does not say so.
  const before = worker.cpuUsage().catch(() => undefined);
  const look = async () => {
    const { user, system } = await worker.cpuUsage(await before);
    if ((user + system) / 1e6 > options.cpuSeconds()) {
      reject(toSlow(options.cpuSeconds()));
    }
    const { used_heap_size: heap, external_memory: outside } = await worker.getHeapStatistics();
    if (heap + outside > options.memory() * megabyte + copies * size.bytes) {
      reject(toHungry());
    }
  };
  // A thread that has ended is told of by its own events.
  return setInterval(() => void look().catch(() => undefined), lookMs);
}

function toSlow(seconds: number): AppError {
  return new AppError(
    "unprocessable",
    `Reading the document took more than ${seconds} seconds of a processor.`,
  );
}

function toHungry(): AppError {
  return new AppError("unprocessable", "Reading the document takes more memory than is allowed.");
}

/** No fault of the document for sure, so it is tried again. */
function toBroken(cause?: unknown): AppError {
  return new AppError("unavailable", "Reading the document ended unexpectedly.", { cause });
}
