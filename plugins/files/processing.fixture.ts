import { Readable } from "node:stream";
import { createJobRunner } from "#kernel/job-runner.ts";
import { createLogger } from "#kernel/log.ts";
import { openTestDatabase } from "#storage/testing.ts";
import { migration } from "./migrations/0001_files.ts";
import { migration as hashes } from "./migrations/0002_file_hash.ts";
import { createProcessing } from "./process.ts";
import { createProcessStore } from "./process-store.ts";
import { createProgress } from "./progress.ts";
import type { FileObserver, FileProcessor } from "./service.ts";
import { createFileStore } from "./store.ts";

export interface BenchOptions {
  processors(): readonly FileProcessor[];
  observers(): readonly FileObserver[];
  timeout(): number;
  readonly stopping: AbortSignal;
}

/** A database with files and workers that process them; the bytes of a file say under which key they lie. */
export async function openBench({ processors, observers, timeout, stopping }: BenchOptions) {
  const log = createLogger({ level: "CRITICAL", format: "json" });
  const database = await openTestDatabase([
    { owner: "files", migrations: { "0001_files": migration, "0002_file_hash": hashes } },
  ]);
  const store = createFileStore(database.db);
  const workers = createProcessStore(database.db);
  const listen = async (...heard: Parameters<typeof database.listen>) =>
    void (await database.listen(...heard));
  const notices = { notify: database.notify, listen, isHearing: database.isHearing };
  const progress = createProgress({ notices, log, read: (id) => store.progressOf(id) });
  await progress.start();
  const runner = createJobRunner({ schema: "jobs", database, log });
  const processing = createProcessing({
    store: workers,
    jobs: runner,
    log,
    processors: { list: processors },
    observers: { list: observers },
    open: async (path) => Readable.from([Buffer.from(`bytes of ${path}`)]),
    announce: progress.announce,
    timeout,
    stopping,
    leaseSeconds: 1,
    retrySeconds: () => 0,
  });
  await runner.start(processing.jobs.map((job) => ({ job, plugin: "files", isEnabled: () => true })));
  return { database, store, workers, progress, runner, processing, close: () => database.close() };
}

export type Bench = Awaited<ReturnType<typeof openBench>>;
