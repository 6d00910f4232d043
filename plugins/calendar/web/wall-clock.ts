import { toLocalDay } from "#plugins/web/kit/local-day.ts";

// Hours of a day as the clock on the wall shows them. Counted from midnight in milliseconds, they are an hour off on the
// days on which clocks change.

/** Minutes from midnight on the clock. */
export const minutesOfDay = (date: Date): number => date.getHours() * 60 + date.getMinutes();

/** The moment of a day at which the clock shows these minutes from midnight. */
export const atMinutes = (day: Date, minutes: number): Date =>
  new Date(day.getFullYear(), day.getMonth(), day.getDate(), 0, minutes);

/** The next full hour of the clock on a day. Before midnight that is still on the day, except today, where it has passed. */
export function nextHourOn(day: Date, now: Date): Date {
  const isToday = toLocalDay(day) === toLocalDay(now);
  return atMinutes(day, 60 * Math.min(now.getHours() + 1, isToday ? 24 : 23));
}

/** The part of a day that something takes, in minutes from midnight; what is short still gets `least` minutes of room. */
export function spanOnDay(
  day: Date,
  { start, end }: { start: Date; end: Date | undefined },
  least: number,
): { readonly from: number; readonly to: number } {
  const next = atMinutes(day, dayMinutes);
  const minutes = (at: Date) => (at <= day ? 0 : at >= next ? dayMinutes : minutesOfDay(at));
  const from = minutes(start);
  return { from, to: Math.max(minutes(end ?? start), from + least) };
}

const dayMinutes = 1_440;
