import { expand, lastStart, nextStart, type Series } from "../recurrence/expand.ts";
import { formatRule, parseRule } from "../recurrence/rule.ts";
import { refuse, toMs, toNs } from "../parts.ts";
import type { Bag, EventRow } from "../tables.ts";

const day = 86_400_000;
/** Four weeks: no reminder comes earlier. */
const maxAlertMinutes = 40_320;
const maxExceptions = 2_000;

/** What a row's own columns are computed from. */
export type TimedEvent = Pick<
  EventRow,
  "start_at" | "end_at" | "all_day" | "rrule" | "data" | "meta" | "is_cancelled"
>;

/** Columns that follow from the others; computed with every write. */
export interface Timing {
  readonly rrule: string | null;
  readonly occupied_until: bigint | null;
  readonly next_alert_start: bigint | null;
  readonly alert_minutes: number | null;
}

/** Throws `invalid` for an end before the start, a rule that is none or never happens, and `meta.alert_minutes`. */
export function toTiming(event: TimedEvent, zone: string, now: number): Timing {
  const start = toMs(event.start_at);
  const end = event.end_at === null ? start : toMs(event.end_at);
  if (end < start) {
    refuse("end_at", "lies before start_at");
  }
  if (end - start > 366 * day) {
    refuse("end_at", "lies more than a year after start_at");
  }
  const alert = readAlertMinutes(event.meta["alert_minutes"]);
  const rrule = event.rrule === null ? null : formatRule(parseRule(event.rrule));
  const last = rrule === null ? start : lastStart({ start, rule: rrule, zone });
  if (last === undefined) {
    refuse("rrule", "never happens");
  }
  const occupied = last === null ? null : toNs(last + (end - start));
  const timed = { ...event, rrule, occupied_until: occupied };
  return {
    rrule,
    occupied_until: occupied,
    next_alert_start: alert === "off" || event.is_cancelled ? null : findAlertStart(timed, zone, now),
    alert_minutes: alert === "off" ? null : alert,
  };
}

/** The next start from `now` on that nobody was reminded of yet (configuration document, `meta.alert_minutes`). */
export function findAlertStart(
  event: Pick<EventRow, "start_at" | "end_at" | "rrule" | "data" | "meta" | "occupied_until">,
  zone: string,
  now: number,
): bigint | null {
  const alerted = Number(event.meta["alerted_start"] ?? 0);
  if (event.rrule === null) {
    const start = toMs(event.start_at);
    return start >= now && start !== alerted ? toNs(start) : null;
  }
  const series = toSeries(event, zone);
  const exceptions = exceptionsOf(event.data);
  let from = now;
  for (let tries = 0; tries <= exceptions.size + 1; tries += 1) {
    const next = nextStart(series, from);
    if (next === undefined || (next !== alerted && !exceptions.has(next))) {
      return next === undefined ? null : toNs(next);
    }
    from = next + 1;
  }
  return null;
}

/** The series of a recurring event. */
export function toSeries(
  event: Pick<EventRow, "start_at" | "end_at" | "rrule" | "occupied_until">,
  zone: string,
): Series {
  const start = toMs(event.start_at);
  const length = event.end_at === null ? 0 : toMs(event.end_at) - start;
  const last = event.occupied_until === null ? null : toMs(event.occupied_until) - length;
  return { start, rule: event.rrule ?? "", zone, last };
}

/** Starts in a window (epoch milliseconds), those of occurrences that began before it and still last included. */
export function startsOf(
  event: EventRow,
  zone: string,
  window: { from: number; to: number; max: number },
): number[] {
  const start = toMs(event.start_at);
  const length = event.end_at === null ? 0 : toMs(event.end_at) - start;
  const from = length === 0 ? window.from : window.from - length + 1;
  if (event.rrule === null) {
    return start >= from && start < window.to ? [start] : [];
  }
  const exceptions = exceptionsOf(event.data);
  const max = window.max + exceptions.size;
  return expand(toSeries(event, zone), { from, to: window.to, max }).filter((at) => !exceptions.has(at));
}

/** Starts (epoch milliseconds) of occurrences that were taken out of a series. */
export function exceptionsOf(data: Bag): Set<number> {
  const stored = data["exdates"];
  return new Set(Array.isArray(stored) ? stored.filter((at): at is number => typeof at === "number") : []);
}

/** Adds an exception. Throws `invalid` beyond 2,000. */
export function withException(data: Bag, at: number): Bag {
  const exceptions = exceptionsOf(data).add(at);
  if (exceptions.size > maxExceptions) {
    refuse("instance_start", `a series has at most ${maxExceptions} exceptions`);
  }
  return { ...data, exdates: [...exceptions].toSorted((one, other) => one - other) };
}

function readAlertMinutes(value: unknown): number | null | "off" {
  if (value === undefined || value === null) {
    return null;
  }
  if (value === -1 || value === "none") {
    return "off";
  }
  if (!Number.isInteger(value) || Number(value) < 0 || Number(value) > maxAlertMinutes) {
    refuse("meta.alert_minutes", `must be a whole number from 0 to ${maxAlertMinutes}, or -1 for no alert`);
  }
  return Number(value);
}
