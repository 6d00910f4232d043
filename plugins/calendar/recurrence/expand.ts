import { RRuleTemporal } from "rrule-temporal";
import { Temporal } from "temporal-polyfill";
import { formatRule, parseRule, type Rule } from "./rule.ts";

// Expansion of any stored rule takes at most 50 ms: a rule starts near the window that is asked
// for, not at its first occurrence years ago.

/** A recurring event. Times are epoch milliseconds. */
export interface Series {
  readonly start: number;
  readonly rule: string;
  /** IANA zone whose clock the occurrences keep. */
  readonly zone: string;
  /** Last occurrence; null without an end. Stands for COUNT when occurrences are looked for. */
  readonly last: number | null;
}

/** Periods that are looked through for one occurrence: about 40 years, of days 9. */
const periodsOf = { DAILY: 3_300, WEEKLY: 2_100, MONTHLY: 480, YEARLY: 40 } as const;
const maxCandidates = 20_000;
const day = 86_400_000;
/** Lengths that a period never exceeds, so that a start is never moved beyond the window. */
const longest = { DAILY: day, WEEKLY: 7 * day, MONTHLY: 31 * day, YEARLY: 366 * day } as const;

/** Starts of the occurrences from `from` up to and without `to`, at most `max` of them. */
export function expand(
  series: Series,
  { from, to, max }: { from: number; to: number; max: number },
): number[] {
  const end = series.last === null ? to : Math.min(to, series.last + 1);
  if (end <= from || end <= series.start) {
    return [];
  }
  const rule = openRule(series, { from, until: end - 1 });
  const found: number[] = [];
  bounded(() =>
    rule.all(({ epochMilliseconds: at }) => {
      if (at >= from && at < end && found.length < max) {
        found.push(at);
      }
      return at < end && found.length < max;
    }),
  );
  return found;
}

/** The first occurrence at or after a moment; undefined when there is none within 40 years. */
export function nextStart(series: Series, from: number): number | undefined {
  if (series.last !== null && from > series.last) {
    return undefined;
  }
  const rule = openRule(series, { from });
  const next = bounded(() => rule.next(new Date(Math.max(from, series.start) - 1)))?.epochMilliseconds;
  return next === undefined || (series.last !== null && next > series.last) ? undefined : next;
}

/** The last occurrence of a rule that ends; null for one that does not, undefined for one that never happens. */
export function lastStart(series: Omit<Series, "last">): number | null | undefined {
  const rule = parseRule(series.rule);
  if (rule.count === null) {
    const until = rule.until === null ? null : toUntil(rule.until, series.zone);
    const first = nextStart({ ...series, last: until }, series.start);
    return first === undefined ? undefined : until;
  }
  const counted = openRule({ ...series, last: null }, { from: series.start, count: rule.count });
  return bounded(() => counted.all())?.at(-1)?.epochMilliseconds;
}

/** How many occurrences lie before a moment. */
export function countBefore(series: Series, before: number): number {
  return expand(series, { from: series.start, to: before, max: 2_000 }).length;
}

/** Epoch milliseconds of UNTIL: a date counts to its end, a time without Z is the zone's. */
export function toUntil(until: string, zone: string): number {
  const [year, month, date] = [until.slice(0, 4), until.slice(4, 6), until.slice(6, 8)];
  const time =
    until.length > 8 ? `${until.slice(9, 11)}:${until.slice(11, 13)}:${until.slice(13, 15)}` : "23:59:59";
  const local = `${year}-${month}-${date}T${time}`;
  return until.endsWith("Z")
    ? Date.parse(`${local}Z`)
    : Temporal.PlainDateTime.from(local).toZonedDateTime(zone).epochMilliseconds;
}

/** Runs a search; undefined where it meets the library's bounds, since such a rule does not happen soon enough. */
function bounded<T>(search: () => T): T | undefined {
  try {
    return search();
  } catch (error) {
    if (error instanceof Error && /\bmax|iterations/i.test(error.message)) {
      return undefined;
    }
    throw error;
  }
}

interface Opening {
  readonly from: number;
  readonly count?: number;
  readonly until?: number;
}

function openRule({ start, rule: text, zone }: Series, { from, count, until }: Opening) {
  const rule = parseRule(text);
  const first = Temporal.Instant.fromEpochMilliseconds(start).toZonedDateTimeISO(zone);
  const body = formatRule({ ...withDefaults(rule, first), until: null, count: count ?? null });
  return new RRuleTemporal<Temporal.ZonedDateTime>({
    rruleString: body,
    dtstart: count === undefined ? moveNear(first, rule, from) : first,
    tzid: zone,
    temporal: Temporal,
    ...(until === undefined
      ? {}
      : { until: Temporal.Instant.fromEpochMilliseconds(until).toZonedDateTimeISO(zone) }),
    maxIterations: Math.max(periodsOf[rule.freq], count ?? 0),
    maxCandidateEvaluations: maxCandidates,
    cache: false,
  });
}

const weekdays = ["MO", "TU", "WE", "TH", "FR", "SA", "SU"];

/** Names what the first occurrence says silently, since a start that was moved says something else. */
function withDefaults(rule: Rule, first: Temporal.ZonedDateTime): Rule {
  const has = (...names: string[]) => names.some((name) => Object.hasOwn(rule.lists, name));
  const lists: Record<string, readonly string[]> = { ...rule.lists };
  const weekday = weekdays[first.dayOfWeek - 1] as string;
  if (rule.freq === "WEEKLY" && !has("BYDAY")) {
    lists["BYDAY"] = [weekday];
  }
  if (rule.freq === "MONTHLY" && !has("BYDAY", "BYMONTHDAY")) {
    lists["BYMONTHDAY"] = [String(first.day)];
  }
  if (rule.freq === "YEARLY" && has("BYWEEKNO") && !has("BYDAY", "BYMONTHDAY", "BYYEARDAY")) {
    lists["BYDAY"] = [weekday];
  }
  if (rule.freq === "YEARLY" && !has("BYDAY", "BYMONTHDAY", "BYYEARDAY", "BYWEEKNO")) {
    lists["BYMONTHDAY"] = [String(first.day)];
    if (!has("BYMONTH")) {
      lists["BYMONTH"] = [String(first.month)];
    }
  }
  return { ...rule, lists };
}

/** The start, moved by whole intervals to at least one period before the window. */
function moveNear(
  first: Temporal.ZonedDateTime,
  { freq, interval }: Rule,
  from: number,
): Temporal.ZonedDateTime {
  const periods = Math.floor((from - first.epochMilliseconds) / longest[freq]) - 2;
  const skipped = Math.floor(periods / interval) * interval;
  if (skipped < interval) {
    return first;
  }
  const local = first.toPlainDateTime();
  const moved = {
    DAILY: () => local.add({ days: skipped }),
    WEEKLY: () => local.add({ weeks: skipped }),
    // Every month and every year has a first day.
    MONTHLY: () => local.with({ day: 1 }).add({ months: skipped }),
    YEARLY: () => local.with({ day: 1, month: 1 }).add({ years: skipped }),
  }[freq]();
  return moved.toZonedDateTime(first.timeZoneId);
}
