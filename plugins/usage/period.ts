import { z } from "zod";
import { AppError } from "#kernel/errors.ts";

/** Whole days (UTC), both ends included. */
export interface Period {
  /** `YYYY-MM-DD`. */
  readonly first: string;
  readonly last: string;
  readonly days: number;
}

/** A day as clients name it: epoch seconds, or `YYYY-MM-DD`. */
const Moment = z.union([
  z.coerce.number().int().min(0).max(253_402_300_799),
  z.iso.date().transform((day) => Date.parse(day) / 1000),
]);

/** The parameters that choose a period; without any it is the last 30 days. */
export const PeriodQuery = z.object({
  days: z.coerce.number().int().min(1).max(3660).optional(),
  start_date: Moment.optional(),
  end_date: Moment.optional(),
});
export type PeriodQuery = z.output<typeof PeriodQuery>;

const daySeconds = 86_400;
const usualDays = 30;
const longest = 3660;

/** The period that a query names. `days` counts back from `end_date`, or from today. Throws `invalid` for one that makes no sense. */
export function toPeriod(query: PeriodQuery, now: number): Period {
  const last = toDay(query.end_date ?? now);
  const first =
    query.start_date === undefined ? last - (query.days ?? usualDays) + 1 : toDay(query.start_date);
  if (first > last) {
    throw new AppError("invalid", "start_date lies behind end_date.");
  }
  if (last - first >= longest) {
    throw new AppError("invalid", `start_date and end_date are more than ${longest} days apart.`);
  }
  return { first: toText(first), last: toText(last), days: last - first + 1 };
}

/** Epoch seconds of a period's beginning and end. */
export function toSeconds({ first, days }: Period): { from: number; to: number } {
  const from = Date.parse(first) / 1000;
  return { from, to: from + days * daySeconds };
}

function toDay(seconds: number): number {
  return Math.floor(seconds / daySeconds);
}

function toText(day: number): string {
  return new Date(Math.max(day, 0) * daySeconds * 1000).toISOString().slice(0, 10);
}
