import { PgBoss } from "pg-boss";
import type { Database } from "#storage/database.ts";
import { exclusively } from "#storage/exclusive.ts";
import type { EnqueueOptions, Job, Jobs } from "./jobs.ts";
import type { Logger } from "./log.ts";

/** A job with the switch of the plugin it belongs to. */
export interface OwnedJob {
  readonly job: Job;
  isEnabled(): boolean;
}

export interface JobRunner extends Jobs {
  start(owned: readonly OwnedJob[]): Promise<void>;
  /** Lets running jobs end within `graceMs`, then aborts them. */
  stop(graceMs: number): Promise<void>;
}

export interface JobRunnerOptions {
  readonly database: Database;
  readonly log: Logger;
  /** Schema of the queue's own tables. */
  readonly schema: string;
  /** False in a process that must not alter tables; true when left out. See job-tables.ts. */
  readonly migrate?: boolean;
}

/** Longest waits in seconds before the first and between later ticks of a scheduled job. */
const firstWait = 60;
const laterWait = 3600;

/** Runs durable jobs over pg-boss, on the embedded database and on a server alike. */
export function createJobRunner({ database, log, schema, migrate = true }: JobRunnerOptions): JobRunner {
  const boss = new PgBoss({
    db: { executeSql: (text: string, values?: unknown[]) => database.query(text, values) },
    schema,
    schedule: false,
    supervise: true,
    // Jobs here do not wait for one another; looking for those that do would cost three queries at every turn.
    flowIntervalSeconds: 24 * 3600,
    migrate,
  });
  boss.on("error", (error) => log.warn({ err: error }, "the job queue had a problem"));
  const stopping = new AbortController();
  const timers: NodeJS.Timeout[] = [];
  const workers = new Map<string, string>();

  async function start(owned: readonly OwnedJob[]): Promise<void> {
    await boss.start();
    await prepareQueues(
      owned.map(({ job }) => job),
      { boss, database },
    );
    for (const entry of owned) {
      await startJob(entry);
    }
  }

  async function startJob({ job, isEnabled }: OwnedJob): Promise<void> {
    const worker = await boss.work(
      job.id,
      { pollingIntervalSeconds: pollSecondsOf(job), localConcurrency: job.concurrency ?? 1 },
      async ([queued]) => {
        if (queued && (isEnabled() || job.every === undefined)) {
          await job.run(queued.data, { signal: AbortSignal.any([stopping.signal, queued.signal]) });
        }
      },
    );
    workers.set(job.id, worker);
    if (job.every !== undefined) {
      tick(job, isEnabled, firstWait);
    }
  }

  /**
   * Every replica ticks; the singleton slot makes one run of the ticks of one interval. Ticks come more often than
   * rare jobs are due: a process that never lives for a day must get its daily work done as well.
   */
  function tick(job: Job, isEnabled: () => boolean, longestWait: number): void {
    const seconds = secondsBetween(job);
    const turn = async () => {
      timers.splice(timers.indexOf(timer), 1);
      if (isEnabled()) {
        await queueOnce(boss, job, seconds).catch((error: unknown) =>
          log.warn({ err: error, job: job.id }, "a scheduled job could not be queued"),
        );
        wake(job.id);
      }
      if (!stopping.signal.aborted) {
        tick(job, isEnabled, laterWait);
      }
    };
    const timer = setTimeout(() => void turn(), Math.min(seconds, longestWait) * 1000);
    timer.unref();
    timers.push(timer);
  }

  function wake(jobId: string): void {
    const worker = workers.get(jobId);
    if (worker) {
      boss.notifyWorker(worker);
    }
  }

  return {
    start,
    async enqueue(jobId, data, options: EnqueueOptions = {}) {
      await boss.send(jobId, data, options.after === undefined ? {} : { startAfter: options.after });
      wake(jobId);
    },
    async stop(graceMs) {
      timers.forEach((timer) => clearTimeout(timer));
      const cut = setTimeout(() => stopping.abort(), graceMs);
      await boss.stop({ graceful: true, timeout: graceMs, close: false });
      clearTimeout(cut);
      stopping.abort();
    },
  };
}

/** Makes the queues that are missing or differ from what their jobs want; an ordinary start only looks. */
async function prepareQueues(jobs: readonly Job[], { boss, database }: Queues): Promise<void> {
  const known = new Map((await boss.getQueues()).map((queue) => [queue.name, queue]));
  const outdated = jobs.filter((job) => !isPrepared(known.get(job.id), job));
  if (outdated.length > 0) {
    // Replicas that start at once must not race for the queues.
    await exclusively(database, "jobs", async () => {
      for (const job of outdated) {
        await boss.createQueue(job.id, queueOptionsOf(job));
        await boss.updateQueue(job.id, queueOptionsOf(job));
      }
    });
  }
}

interface Queues {
  readonly boss: PgBoss;
  readonly database: Database;
}

function queueOptionsOf(job: Job) {
  const retries = job.retries ?? 0;
  return {
    retryLimit: retries,
    retryBackoff: retries > 0,
    retryDelay: 2,
    expireInSeconds: job.expiresIn ?? 300,
  };
}

/** Whether an earlier start made the queue as the job wants it. */
function isPrepared(queue: Partial<ReturnType<typeof queueOptionsOf>> | undefined, job: Job): boolean {
  return Object.entries(queueOptionsOf(job)).every(
    ([name, value]) => queue?.[name as keyof typeof queue] === value,
  );
}

/** Of all that replicas send within one interval, the queue keeps one. */
async function queueOnce(boss: PgBoss, { id }: Job, seconds: number): Promise<void> {
  await boss.send(id, {}, { singletonKey: id, singletonSeconds: seconds });
}

function secondsBetween({ every = firstWait }: Job): number {
  const seconds = typeof every === "function" ? every() : every;
  // An interval that is no number would make a timer that fires all the time.
  return Number.isFinite(seconds) ? Math.max(1, seconds) : laterWait;
}

/**
 * A poll costs the database a query. Enqueueing wakes the worker of the same process, so the poll only
 * finds what another replica left behind or what waits for its next try.
 */
function pollSecondsOf(job: Job): number {
  return job.every === undefined ? 10 : 60;
}
