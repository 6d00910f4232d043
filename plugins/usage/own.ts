import { countByHour, countChats, topTools } from "./calls.ts";
import { type Range, type Sums, sumAll, sumBy } from "./sums.ts";
import type { UsageDatabase } from "./tables.ts";

const mostListed = 10;
const dayMs = 86_400_000;

/** What one account sees of its own usage (contract 1.3). */
export async function toOwnUsage(db: UsageDatabase, range: Range) {
  const [totals, days, models, tools, hours, chats] = await Promise.all([
    sumAll(db, range),
    sumBy(db, ["day"], range),
    sumBy(db, ["model_id"], range),
    topTools(db, range, mostListed),
    countByHour(db, range),
    countChats(db, range),
  ]);
  const { first, last, days: length } = range.period;
  return {
    period: { start_date: first, end_date: last, days: length },
    totals: { ...totals, chats, models: models.length },
    heatmap: days.map(({ day, count, total_tokens }) => ({ date: day, count, total_tokens })),
    insights: toInsights(days, { last, busiestHour: hours[0]?.hour ?? null }),
    top_models: models.slice(0, mostListed),
    top_tools: tools,
  };
}

/** Days in a row with calls, and when there were most. `days` are in order. */
export function toInsights(
  days: readonly Pick<Sums & { day: string }, "day" | "count" | "total_tokens">[],
  { last, busiestHour }: { last: string; busiestHour: number | null },
) {
  let longest = 0;
  let run = 0;
  let before = -Infinity;
  for (const { day } of days) {
    const at = Date.parse(day) / dayMs;
    run = at === before + 1 ? run + 1 : 1;
    longest = Math.max(longest, run);
    before = at;
  }
  const busiest = days.toSorted((a, b) => b.count - a.count)[0];
  // Today may still be without a call: yesterday's row of days goes on.
  const isCurrent = Date.parse(last) / dayMs - before <= 1;
  return {
    active_days: days.length,
    current_streak: isCurrent ? run : 0,
    longest_streak: longest,
    busiest_day: busiest ? { date: busiest.day, count: busiest.count } : null,
    /** Of the day, UTC. */
    busiest_hour: busiestHour,
    tokens_per_active_day:
      days.length === 0 ? 0 : Math.round(days.reduce((sum, day) => sum + day.total_tokens, 0) / days.length),
  };
}
