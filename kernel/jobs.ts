/** Scheduled or queued work of the host. */
export interface Job<D = unknown> {
  /** Unique over all plugins, e.g. `files.process`. */
  readonly id: string;
  /** Title for administrators, such as "Removes expired sessions"; the id when left out. */
  readonly title?: string;
  /** Seconds between runs of a scheduled job; left out for jobs that are only queued. At least 1. */
  readonly every?: number | (() => number);
  /** Tries after a failure, with growing pauses; 0 when left out. */
  readonly retries?: number;
  /** Seconds after which a run counts as lost and is handed out again; 300 when left out. */
  readonly expiresIn?: number;
  /** Runs at the same time in this process; 1 when left out. */
  readonly concurrency?: number;
  run(data: D, context: { readonly signal: AbortSignal }): Promise<void>;
}

export interface EnqueueOptions {
  /** Seconds to wait before the first try. */
  readonly after?: number;
}

/** Durable jobs: they survive the process and run on one replica at a time. */
export interface Jobs {
  enqueue(jobId: string, data: object, options?: EnqueueOptions): Promise<void>;
}

/** A job with the switch of the plugin it belongs to. */
export interface OwnedJob {
  readonly plugin: string;
  readonly job: Job;
  isEnabled(): boolean;
}
