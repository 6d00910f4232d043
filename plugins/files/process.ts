import type { Readable } from "node:stream";
import { AppError } from "#kernel/errors.ts";
import { createTurns } from "#kernel/fair-queue.ts";
import type { Job, Jobs } from "#kernel/jobs.ts";
import type { Logger } from "#kernel/log.ts";
import type { Slot } from "#kernel/service.ts";
import { seconds } from "#storage/clock.ts";
import { bounded, keepLease } from "./lease.ts";
import { isText } from "./media.ts";
import { tellObservers } from "./observers.ts";
import {
  type ClaimedFile,
  maxAttempts,
  type Order,
  type Processed,
  type ProcessStore,
} from "./process-store.ts";
import { toRecord } from "./record.ts";
import type { FileObserver, FileProcessing, FileProcessor, FileRecord } from "./service.ts";
import { readText } from "./text.ts";

export interface ProcessingOptions {
  readonly store: ProcessStore;
  readonly jobs: Jobs;
  readonly log: Logger;
  readonly processors: Slot<FileProcessor>;
  readonly observers: Slot<FileObserver>;
  /** Opens the bytes under a blob key; undefined when there are none. */
  open(path: string): Promise<Readable | undefined>;
  /** Wakes those who follow a file. */
  announce(id: string): void;
  /** Longest time for one file in seconds, over all its tries. */
  timeout(): number;
  /** Aborted when the host stops. */
  readonly stopping: AbortSignal;
  /** Seconds a worker counts as alive after it last said so; 30 when left out. */
  readonly leaseSeconds?: number;
  /** Seconds before another try; doubled with each when left out. */
  retrySeconds?(attempts: number): number;
}

export interface Processing {
  /** Lets the workers look for orders. */
  wake(): Promise<void>;
  /** Takes up what a killed process left; for a start that no other process can be beside. */
  takeUp(): Promise<void>;
  readonly jobs: readonly Job[];
}

const jobId = "files.process";
/** Files that are processed side by side, unless more people wait; see `Turns`. */
const sideBySide = 2;
/** Seconds after which a run of the job hands over to the next one, so that it never counts as lost. */
const runSeconds = 600;
/** An order in a long queue is nothing unusual; queueing it twice has no effect but costs a look. */
const patience = 300;

/**
 * Processes files as durable jobs, those of one person in turns with those of others: the rows are the queue, and a job
 * only says that there is something in it. An order ends as completed or failed, whatever becomes of the worker: a
 * lease tells the living from the dead, and `files.recover` hands out again what the dead held.
 */
export function createProcessing(options: ProcessingOptions): Processing {
  const { store, jobs, log, announce } = options;
  const leaseSeconds = options.leaseSeconds ?? 30;
  const retrySeconds = options.retrySeconds ?? ((attempts) => 2 ** attempts);
  const wake = (after = 0) => jobs.enqueue(jobId, {}, { after });

  async function processOne(order: Order, signal: AbortSignal): Promise<void> {
    const file = await store.claim(order, leaseSeconds);
    if (file === undefined) {
      return;
    }
    const over = AbortSignal.timeout(options.timeout() * 1000);
    const lease = keepLease(store, order, leaseSeconds);
    try {
      const bounds = AbortSignal.any([signal, over, lease.lost]);
      const found = await bounded(extract(file, bounds, options), bounds);
      await bounded(tell(file, found.data, options), bounds);
      lease.stop();
      await store.complete(order, found);
    } catch (error) {
      lease.stop();
      await settle({
        order,
        file,
        error,
        timedOut: over.aborted,
        stopped: signal.aborted || options.stopping.aborted,
      });
    }
    announce(order.id);
  }

  const fail = (order: Order, reason: string) => failOrder(options, order, reason);

  async function settle({ order, file, error, timedOut, stopped }: Failure): Promise<void> {
    if (stopped) {
      await store.release(order);
      return;
    }
    const late = seconds() - file.started_at >= options.timeout();
    if (timedOut || late || file.attempts >= maxAttempts || isFinal(error)) {
      log.info({ err: error, file: order.id }, "a file could not be processed");
      await fail(
        order,
        timedOut ? `Processing took longer than ${options.timeout()} seconds.` : toReason(error),
      );
      return;
    }
    log.info(
      { err: error, file: order.id, attempt: file.attempts },
      "processing a file failed and is tried again",
    );
    const pause = retrySeconds(file.attempts);
    await store.postpone(order, pause);
    await wake(pause);
  }

  async function recover(): Promise<void> {
    for (const idle of await store.idle(patience, 100)) {
      if (idle.attempts >= maxAttempts) {
        await fail(idle, "Processing was broken off several times.");
        announce(idle.id);
      } else {
        await store.touch(idle);
        await wake();
      }
    }
  }

  const run = createRuns({ ...options, wake, processOne });

  return {
    wake: () => wake(),
    takeUp: () => store.releaseAll().then(recover),
    jobs: toJobs({ run, recover }),
  };
}

interface Runs extends Pick<ProcessingOptions, "store" | "stopping"> {
  wake(): Promise<void>;
  processOne(order: Order, signal: AbortSignal): Promise<void>;
}

/** Runs go on while there are orders that may begin; those that may not are begun by the runs that hold them back. */
function createRuns({ store, stopping, wake, processOne }: Runs): (signal: AbortSignal) => Promise<void> {
  const turns = createTurns(() => sideBySide);
  return async (signal) => {
    const until = performance.now() + runSeconds * 1000;
    while (!signal.aborted && !stopping.aborted) {
      const orders = await store.firstOrders();
      const person = turns.next(orders.keys());
      if (person === undefined) {
        return;
      }
      const end = turns.begin(person);
      await processOne(orders.get(person) as Order, signal).finally(end);
      if (performance.now() > until) {
        await wake();
        return;
      }
    }
  };
}

/** Processing by order, and the watch over orders whose worker is gone. */
function toJobs({
  run,
  recover,
}: {
  run(signal: AbortSignal): Promise<void>;
  recover(): Promise<void>;
}): Job[] {
  return [
    {
      id: jobId,
      title: "Reads uploaded files",
      // As many as turns let begin at the same time.
      concurrency: 2 * sideBySide - 1,
      retries: 2,
      // Above every timeout: the lease, not the queue, decides that a worker is lost.
      expiresIn: 6 * 3600,
      run: (_data, { signal }) => run(signal),
    },
    {
      id: "files.recover",
      title: "Resumes files whose reading was interrupted",
      every: 15,
      expiresIn: 60,
      run: recover,
    },
  ];
}

async function failOrder(
  { store, observers, log }: ProcessingOptions,
  order: Order,
  reason: string,
): Promise<void> {
  if (await store.fail(order, reason)) {
    await tellObservers(observers.list(), log, (observer) => observer.failed?.(order.id, reason));
  }
}

interface Failure {
  order: Order;
  file: ClaimedFile;
  error: unknown;
  timedOut: boolean;
  /** The host stops, which is not the file's fault. */
  stopped: boolean;
}

/** What the first processor that accepts the file finds; without one, text files yield their text. */
async function extract(
  file: ClaimedFile,
  signal: AbortSignal,
  { processors, open, store }: ProcessingOptions,
): Promise<Processed> {
  const record = toRecord(file);
  const edited = file.edited ? (file.content ?? "") : undefined;
  const openBytes = async (): Promise<Readable> => {
    const bytes = file.path === null ? undefined : await open(file.path);
    if (bytes === undefined) {
      throw new AppError("not_found", "The file has no stored bytes.");
    }
    return bytes;
  };
  const processor = processors.list().find((candidate) => candidate.accepts(record));
  if (processor) {
    return process(processor, { file: record, content: edited, open: openBytes, signal }, store);
  }
  if (edited !== undefined || !isText(String(file.meta.content_type ?? ""), file.filename)) {
    return { data: {} };
  }
  const text = await readText(await openBytes());
  return {
    data: text === undefined ? {} : { content: text.content, ...(text.truncated ? { truncated: true } : {}) },
  };
}

/** Asks the processor unless the same bytes were processed the same way before; see `FileProcessor.fingerprint`. */
async function process(
  processor: FileProcessor,
  processing: FileProcessing,
  store: ProcessStore,
): Promise<Processed> {
  const { file, content } = processing;
  const own = content === undefined ? processor.fingerprint?.(file) : undefined;
  if (own === undefined || file.hash === null) {
    return { data: await processor.process(processing) };
  }
  const fingerprint = `${processor.id}:${own}`;
  const earlier = await store.findProcessed(file.hash, fingerprint);
  return { data: earlier ?? (await processor.process(processing)), fingerprint };
}

/** Followers act before the file counts as completed, so that a crash in between repeats them instead of losing them. */
async function tell(
  file: ClaimedFile,
  found: Record<string, unknown>,
  { observers }: ProcessingOptions,
): Promise<void> {
  const record: FileRecord = {
    ...toRecord(file),
    data: { ...toRecord(file).data, ...found, status: "completed" },
  };
  for (const observer of observers.list()) {
    await observer.processed?.(record);
  }
}

/** True for errors of the file itself: trying again does not help. */
function isFinal(error: unknown): boolean {
  return (
    error instanceof AppError &&
    ["invalid", "unprocessable", "too_large", "not_found", "forbidden"].includes(error.code)
  );
}

/** Only messages that are meant to be read are shown: others may name paths and hosts. */
function toReason(error: unknown): string {
  return error instanceof AppError && typeof error.detail === "string"
    ? error.detail
    : "The file could not be processed.";
}
