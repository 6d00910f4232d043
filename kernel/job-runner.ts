import { PgBoss } from "pg-boss";
import type { Database } from "#storage/database.ts";
import { exclusively } from "#storage/exclusive.ts";
import { type JobRecord, readJobRecords } from "./job-records.ts";
import type { EnqueueOptions, Job, Jobs, OwnedJob } from "./jobs.ts";
import type { Logger } from "./log.ts";
import { watched } from "./work.ts";

export interface JobRunner extends Jobs {
  start(owned: readonly OwnedJob[]): Promise<void>;
  /** State of every job, over all replicas. */
  records(): Promise<JobRecord[]>;
  /** Queues a run of a scheduled job at once, beside those of its interval. */
  runNow(jobId: string): Promise<"queued" | "unknown" | "unscheduled" | "off">;
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
  /** Told of a run that failed after one that went well, or as the first of this process. */
  readonly failed?: (job: Job, error: unknown) => void;
}

/** Longest waits in seconds before the first and between later ticks of a scheduled job. */
const firstWait = 60;
const laterWait = 3600;
/** Seconds up to which a job that starts later is woken for; a poll finds those that start after that. */
const longestWake = 60;
/** The clock of the database may be a little behind. */
const clockSlackMs = 50;

/** Runs durable jobs over pg-boss, on the embedded database and on a server alike. */
export function createJobRunner(options: JobRunnerOptions): JobRunner {
  const { database, log, schema } = options;
  const boss = openQueue(options);
  const stopping = new AbortController();
  const guarded = createFailureWatch(stopping.signal, options.failed);
  const deadlines = createDeadlines();
  const workers = new Map<string, string>();
  const ticks = new Map<string, number>();
  let all: readonly OwnedJob[] = [];

  async function start(owned: readonly OwnedJob[]): Promise<void> {
    all = owned;
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
          const signal = AbortSignal.any([stopping.signal, queued.signal]);
          try {
            await guarded(job, () => job.run(queued.data, { signal }));
          } finally {
            // Without this a long queue moves by one job per poll; an empty one costs a single look.
            wake(job.id);
          }
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
    const wait = Math.min(seconds, longestWait) * 1000;
    ticks.set(job.id, Date.now() + wait);
    deadlines.after(wait, () => void turn());
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
      const { after = 0 } = options;
      await boss.send(jobId, data, after === 0 ? {} : { startAfter: after });
      deadlines.at(after, () => wake(jobId));
    },
    ...createJobDesk({ boss, database, schema, ticks, owned: () => all, wake }),
    async stop(graceMs) {
      deadlines.stop();
      const cut = setTimeout(() => stopping.abort(), graceMs);
      await boss.stop({ graceful: true, timeout: graceMs, close: false });
      clearTimeout(cut);
      stopping.abort();
    },
  };
}

/** Tells of a failure that follows none; a job that fails each minute is told of once. */
function createFailureWatch(stopped: AbortSignal, failed: JobRunnerOptions["failed"]) {
  const failing = new Set<string>();
  return async (job: Job, run: () => Promise<void>): Promise<void> => {
    try {
      await watched(() => ({ kind: "job", name: job.id }), run);
      failing.delete(job.id);
    } catch (error) {
      if (!failing.has(job.id) && !stopped.aborted) {
        failing.add(job.id);
        failed?.(job, error);
      }
      throw error;
    }
  };
}

/** Timers that end with the runner and keep no process alive. */
function createDeadlines() {
  const timers = new Set<NodeJS.Timeout>();
  function after(ms: number, run: () => void): void {
    const end = () => {
      timers.delete(timer);
      run();
    };
    const timer = setTimeout(end, ms).unref();
    timers.add(timer);
  }
  return {
    after,
    /** Runs once a job may start that was queued for so many seconds later; else it would wait for the next poll. */
    at(seconds: number, run: () => void): void {
      if (seconds === 0) {
        run();
      } else if (seconds <= longestWake) {
        after(seconds * 1000 + clockSlackMs, run);
      }
    },
    stop: () => timers.forEach((timer) => clearTimeout(timer)),
  };
}

interface JobDeskParts extends Queues {
  readonly schema: string;
  /** Epoch milliseconds of each scheduled job's next tick in this process. */
  readonly ticks: ReadonlyMap<string, number>;
  owned(): readonly OwnedJob[];
  wake(jobId: string): void;
}

/** Jobs as administrators see them: last and next run, failures, and a way to run one now. */
function createJobDesk(parts: JobDeskParts): Pick<JobRunner, "records" | "runNow"> {
  const { boss, database, schema, ticks, owned, wake } = parts;
  return {
    records: () =>
      readJobRecords(database, schema, {
        owned: owned(),
        nextTick: (id) => ticks.get(id),
        stepOf: ({ job }) => Math.min(secondsBetween(job), laterWait),
        intervalOf: ({ job }) => (job.every === undefined ? null : secondsBetween(job)),
      }),
    async runNow(jobId) {
      const refusal = refusalOf(owned().find(({ job }) => job.id === jobId));
      if (refusal === undefined) {
        await boss.send(jobId, {});
        wake(jobId);
      }
      return refusal ?? "queued";
    },
  };
}

/** Why a job cannot be run at once; undefined when it can. */
function refusalOf(owned: OwnedJob | undefined): "unknown" | "unscheduled" | "off" | undefined {
  if (owned === undefined) {
    return "unknown";
  }
  if (owned.job.every === undefined) {
    return "unscheduled";
  }
  return owned.isEnabled() ? undefined : "off";
}

function openQueue({ database, log, schema, migrate = true }: JobRunnerOptions): PgBoss {
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
  return boss;
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
