import type { UsageRecord } from "./tables.ts";

/** What records add to the sums of a day. */
export interface DaySums {
  /** `YYYY-MM-DD`, UTC. */
  readonly day: string;
  readonly user_id: string | null;
  readonly model_id: string;
  readonly provider: string;
  calls: number;
  failed: number;
  estimated: number;
  input_tokens: number;
  output_tokens: number;
  cached_tokens: number;
  reasoning_tokens: number;
  duration_ms: number;
}

const daySeconds = 86_400;

/**
 * Adds records up by day, account, model and provider. In order, so that two processes which add to the same sums do not
 * wait for each other in a circle.
 */
export function toDays(records: readonly UsageRecord[]): DaySums[] {
  const sums = new Map<string, DaySums>();
  for (const record of records) {
    const day = Math.floor(record.created_at / daySeconds);
    const key = JSON.stringify([day, record.user_id, record.model_id, record.provider]);
    let sum = sums.get(key);
    if (sum === undefined) {
      sum = emptySums(day, record);
      sums.set(key, sum);
    }
    add(sum, record);
  }
  return [...sums].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, sum]) => sum);
}

function emptySums(day: number, { user_id, model_id, provider }: UsageRecord): DaySums {
  return {
    day: new Date(day * daySeconds * 1000).toISOString().slice(0, 10),
    user_id,
    model_id,
    provider,
    calls: 0,
    failed: 0,
    estimated: 0,
    input_tokens: 0,
    output_tokens: 0,
    cached_tokens: 0,
    reasoning_tokens: 0,
    duration_ms: 0,
  };
}

function add(sum: DaySums, record: UsageRecord): void {
  sum.calls += 1;
  sum.failed += record.outcome === "failed" ? 1 : 0;
  sum.estimated += record.estimated ? 1 : 0;
  sum.input_tokens += record.input_tokens;
  sum.output_tokens += record.output_tokens;
  sum.cached_tokens += record.cached_tokens;
  sum.reasoning_tokens += record.reasoning_tokens;
  sum.duration_ms += record.duration_ms;
}
