import { RRuleTemporal } from "rrule-temporal";
import { Temporal } from "temporal-polyfill";
import { parseRule, type Rule } from "./rule.ts";

/** A rule as it is stored. `anchor` is the start of a rule that names none, in epoch seconds. */
export interface Schedule {
  readonly rule: string;
  readonly anchor: number;
  /** IANA zone of a rule whose start names none. */
  readonly zone: string;
}

/** Periods looked through for one run: what comes in no 400 years never comes. */
const maxPeriods = 2_000;
const maxCandidates = 20_000;
const minute = 60_000;
const lengths = {
  MINUTELY: minute,
  HOURLY: 60 * minute,
  DAILY: 1_440 * minute,
  WEEKLY: 10_080 * minute,
} as const;

/**
 * Times of the next runs after a moment, in epoch seconds; fewer when the rule ends. Rules of days and longer are
 * counted on the clock on the wall and then laid into the zone: a time that a change of clocks leaves out comes an hour
 * later, one that comes twice counts once (R7). Shorter ones count time that passes.
 */
export function nextRuns(schedule: Schedule, after: number, max: number): number[] {
  const rule = parseRule(schedule.rule);
  const zone = rule.start?.text.endsWith("Z") ? "UTC" : (rule.start?.zone ?? schedule.zone);
  const start = findStart(rule, { ...schedule, zone });
  const wish = { after, max, end: toEnd(rule, zone) };
  if (rule.freq === "MINUTELY" || rule.freq === "HOURLY") {
    const step = (lengths[rule.freq] / 1_000) * rule.interval;
    const grid = start.toZonedDateTime(zone).epochMilliseconds / 1_000;
    // COUNT of a rule without a start counts from the moment it was written, not the slots of that day before it.
    const passed = rule.start === null ? Math.floor((schedule.anchor - grid) / step) + 1 : 0;
    return stepOn({ first: grid + passed * step, step, count: rule.count }, wish);
  }
  const from = Temporal.Instant.fromEpochMilliseconds(after * 1_000)
    .toZonedDateTimeISO(zone)
    .toPlainDateTime()
    .toZonedDateTime("UTC").epochMilliseconds;
  const series = new RRuleTemporal<Temporal.ZonedDateTime>({
    rruleString: toText(rule),
    dtstart: moveNear(start.toZonedDateTime("UTC"), rule, from),
    tzid: "UTC",
    temporal: Temporal,
    maxIterations: maxPeriods,
    maxCandidateEvaluations: maxCandidates,
    cache: false,
  });
  const toReal = ({ epochMilliseconds: at }: Temporal.ZonedDateTime): number =>
    toWall(at).toZonedDateTime(zone).epochMilliseconds / 1_000;
  return collect(series, { ...wish, toReal });
}

function stepOn(
  { first, step, count }: { first: number; step: number; count: number | null },
  { after, max, end }: Omit<Wish, "toReal">,
): number[] {
  const begin = Math.max(0, Math.floor((after - first) / step) + 1);
  return Array.from({ length: max }, (_, at) => begin + at)
    .filter((turn) => count === null || turn < count)
    .map((turn) => first + turn * step)
    .filter((at) => at <= end);
}

interface Wish {
  readonly after: number;
  readonly max: number;
  readonly end: number;
  toReal(at: Temporal.ZonedDateTime): number;
}

function collect(series: RRuleTemporal<Temporal.ZonedDateTime>, { after, max, end, toReal }: Wish): number[] {
  const found: number[] = [];
  try {
    series.all((date) => {
      const at = toReal(date);
      if (at > after && at <= end && at !== found.at(-1)) {
        found.push(at);
      }
      return at <= end && found.length < max;
    });
  } catch (error) {
    // Met the library's bounds: what lies behind them does not come soon enough to count.
    if (!(error instanceof Error && /\bmax|iterations/i.test(error.message))) {
      throw error;
    }
  }
  return found;
}

const toWall = (at: number) =>
  Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO("UTC").toPlainDateTime();

/** Rules below a day begin at midnight, so that they fall on the clock; others in the minute after they were written. */
function findStart(rule: Rule, { anchor, zone }: Schedule): Temporal.PlainDateTime {
  if (rule.start !== null) {
    const [, date, time = "000000"] = /^(\d{8})(?:T(\d{4,6}))?/.exec(rule.start.text) as unknown as string[];
    return Temporal.PlainDateTime.from(`${date}T${(time as string).padEnd(6, "0")}`);
  }
  const local = Temporal.Instant.fromEpochMilliseconds((anchor + 59) * 1_000)
    .toZonedDateTimeISO(zone)
    .toPlainDateTime()
    .with({ second: 0, millisecond: 0 });
  if (rule.freq === "MINUTELY" || rule.freq === "HOURLY") {
    return local.with({ hour: 0, minute: 0 });
  }
  return rule.parts.has("BYHOUR") && !rule.parts.has("BYMINUTE") ? local.with({ minute: 0 }) : local;
}

/** A start of long ago is moved by whole intervals to shortly before the moment: the years between are not looked through. */
function moveNear(start: Temporal.ZonedDateTime, { freq, interval, count, parts }: Rule, from: number) {
  if (count !== null || freq === "MINUTELY" || freq === "HOURLY") {
    return start;
  }
  const wall = toWall(from);
  const months = (wall.year - start.year) * 12 + wall.month - start.month;
  const periods = {
    DAILY: (from - start.epochMilliseconds) / lengths.DAILY,
    WEEKLY: (from - start.epochMilliseconds) / lengths.WEEKLY,
    MONTHLY: months,
    YEARLY: wall.year - start.year,
  }[freq];
  const skipped = (Math.floor(periods / interval) - 1) * interval;
  if (skipped <= 0) {
    return start;
  }
  if (freq === "DAILY" || freq === "WEEKLY") {
    return start.add(freq === "DAILY" ? { days: skipped } : { weeks: skipped });
  }
  if (!["BYDAY", "BYMONTHDAY", "BYYEARDAY"].some((name) => parts.has(name))) {
    // Its day is the start's, which not every month has; without lists there is little to look through.
    return start;
  }
  return freq === "MONTHLY"
    ? start.with({ day: 1 }).add({ months: skipped })
    : start.with({ day: 1, month: 1 }).add({ years: skipped });
}

function toText({ freq, interval, count, parts }: Rule): string {
  const lists = [...parts].map(([name, value]) => `;${name}=${value}`).join("");
  return `RRULE:FREQ=${freq};INTERVAL=${interval}${count === null ? "" : `;COUNT=${count}`}${lists}`;
}

/** Epoch seconds of UNTIL: a date counts to its end, a time without Z is the zone's. */
function toEnd({ until }: Rule, zone: string): number {
  if (until === null) {
    return Number.POSITIVE_INFINITY;
  }
  const time = until.length > 8 ? until.slice(8).replace("Z", "") : "T235959";
  const local = Temporal.PlainDateTime.from(`${until.slice(0, 8)}${time}`);
  return local.toZonedDateTime(until.endsWith("Z") ? "UTC" : zone).epochMilliseconds / 1_000;
}
