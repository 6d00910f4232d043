import type { Database } from "#storage/database.ts";
import { redactText } from "./log.ts";
import type { OwnedJob } from "./jobs.ts";

/** State of one job over all replicas, as far back as the queue keeps its runs. */
export interface JobRecord {
  readonly id: string;
  readonly title: string | null;
  readonly plugin: string;
  /** False while its plugin is switched off. */
  readonly enabled: boolean;
  /** Seconds between runs; null for work that is only queued. */
  readonly every: number | null;
  /** Epoch seconds. */
  readonly last_run_at: number | null;
  readonly last_state: "completed" | "failed" | "active" | null;
  readonly last_duration_ms: number | null;
  /** The first tick of this process that the queue takes: a rare job ticks more often than it runs. */
  readonly next_run_at: number | null;
  /** Runs that wait, those put off among them. */
  readonly waiting: number;
  readonly failed: number;
  readonly last_error: string | null;
  readonly last_error_at: number | null;
}

interface Row {
  readonly name: string;
  readonly state: string;
  readonly started: number | null;
  readonly ended: number | null;
  readonly waiting: number;
  readonly failed: number;
  readonly error: unknown;
  readonly error_at: number | null;
}

/** Parts of a running queue that the records need. */
export interface JobFacts {
  readonly owned: readonly OwnedJob[];
  /** Epoch milliseconds of a job's next tick in this process. */
  nextTick(id: string): number | undefined;
  /** Seconds between the ticks of a job. */
  stepOf(owned: OwnedJob): number;
  intervalOf(owned: OwnedJob): number | null;
}

/** Reads how the jobs fare from the queue's tables. */
export async function readJobRecords(
  database: Pick<Database, "query">,
  schema: string,
  { owned, nextTick, stepOf, intervalOf }: JobFacts,
): Promise<JobRecord[]> {
  const answer = await database.query(toSql(schema), [owned.map(({ job }) => job.id)]);
  const rows = new Map((answer.rows as Row[]).map((row) => [row.name, row]));
  return owned.map((one) => {
    const row = rows.get(one.job.id);
    const { started = null, ended = null } = row ?? {};
    const every = intervalOf(one);
    const tick = nextTick(one.job.id);
    const next =
      tick === undefined
        ? undefined
        : toNextRun(tick / 1000, { started, every: every ?? 0, step: stepOf(one) });
    return {
      id: one.job.id,
      title: one.job.title ?? null,
      plugin: one.plugin,
      enabled: one.isEnabled(),
      every,
      last_run_at: started === null ? null : Math.floor(started),
      last_state: toState(row?.state),
      last_duration_ms:
        started !== null && ended !== null ? Math.max(0, Math.round(1000 * (ended - started))) : null,
      next_run_at: next === undefined ? null : Math.ceil(next),
      waiting: row?.waiting ?? 0,
      failed: row?.failed ?? 0,
      last_error: row?.error === null || row?.error === undefined ? null : toReason(row.error),
      last_error_at: typeof row?.error_at === "number" ? Math.floor(row.error_at) : null,
    };
  });
}

/** The queue takes one run in each interval, counted from the epoch; all times in seconds. */
export function toNextRun(
  tick: number,
  { started, every, step }: { started: number | null; every: number; step: number },
): number {
  const free = started === null || every === 0 ? 0 : (Math.floor(started / every) + 1) * every;
  return tick + Math.max(0, Math.ceil((free - tick) / step)) * step;
}

/** One line a job: its last run that began, its last failure, and how many wait and failed. */
function toSql(schema: string): string {
  return `
    select j.name,
      (array_agg(j.state::text order by j.started_on desc nulls last))[1] as state,
      extract(epoch from (array_agg(j.started_on order by j.started_on desc nulls last))[1])::float8 as started,
      extract(epoch from (array_agg(j.completed_on order by j.started_on desc nulls last))[1])::float8 as ended,
      count(*) filter (where j.state in ('created', 'retry'))::int as waiting,
      count(*) filter (where j.state = 'failed')::int as failed,
      (array_agg(j.output order by j.completed_on desc) filter (where j.state in ('failed', 'retry') and j.output is not null))[1] as error,
      extract(epoch from max(coalesce(j.completed_on, j.started_on)) filter (where j.state in ('failed', 'retry') and j.output is not null))::float8 as error_at
    from ${schema}.job j where j.name = any($1) group by j.name`;
}

function toState(state: string | undefined): JobRecord["last_state"] {
  switch (state) {
    case "completed":
    case "failed":
    case "active":
      return state;
    case "retry":
      return "failed";
    default:
      return null;
  }
}

const longestReason = 1000;

/** What a failed run said, short and without secrets. */
export function toReason(output: unknown): string {
  const { message, value } = (typeof output === "object" && output ? output : { value: output }) as Record<
    string,
    unknown
  >;
  const said = message ?? value ?? output;
  const text = typeof said === "string" ? said : JSON.stringify(said);
  return redactText(text).slice(0, longestReason);
}
