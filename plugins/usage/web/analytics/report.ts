import type { Api } from "#plugins/catalogue.ts";

export type Row = Api["GET /api/v1/analytics/report"]["answer"]["data"][number];
export type By = "day" | "model" | "user" | "group";

/** What a chart shows: tokens, calls, the mean duration of a call, or the cost in one currency. */
export type Measure = "tokens" | "calls" | "duration" | `cost:${string}`;

/** The number of a row that a measure means; 0 where it has none. */
export function valueOf(row: Row, measure: Measure): number {
  switch (measure) {
    case "tokens":
      return row.total_tokens;
    case "calls":
      return row.count;
    case "duration":
      return (row.mean_ms ?? 0) / 1000;
    default:
      return row.costs.find(({ currency }) => currency === currencyOf(measure))?.amount ?? 0;
  }
}

export const currencyOf = (measure: Measure): string => measure.slice("cost:".length);

/** Currencies in which something was spent, the largest amount first. */
export function listCurrencies(rows: readonly Row[]): string[] {
  const sums = new Map<string, number>();
  for (const { currency, amount } of rows.flatMap(({ costs }) => costs)) {
    sums.set(currency, (sums.get(currency) ?? 0) + amount);
  }
  return [...sums].toSorted((a, b) => b[1] - a[1]).map(([currency]) => currency);
}

const daySeconds = 86_400;

/** The rows of the last `days` days (UTC) up to `now` (epoch seconds), with those on which nothing happened. */
export function fillDays(rows: readonly Row[], { days, now }: { days: number; now: number }): Row[] {
  const known = new Map(rows.map((row) => [row.key, row]));
  const today = Math.floor(now / daySeconds);
  return Array.from({ length: days }, (_, index) => {
    const key = new Date((today - days + 1 + index) * daySeconds * 1000).toISOString().slice(0, 10);
    return known.get(key) ?? { ...nothing, key };
  });
}

const nothing: Omit<Row, "key"> = {
  name: null,
  count: 0,
  failed: 0,
  input_tokens: 0,
  output_tokens: 0,
  cached_tokens: 0,
  total_tokens: 0,
  mean_ms: null,
  costs: [],
  unpriced: 0,
};

/** The upper end of an axis: a round number not below `most`. */
export function toCeiling(most: number): number {
  if (most <= 0) {
    return 1;
  }
  const power = 10 ** Math.floor(Math.log10(most));
  return [1, 2, 2.5, 5, 10].map((step) => step * power).find((end) => end >= most * 0.9999) ?? 10 * power;
}
