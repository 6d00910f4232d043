/** A recurrence rule as far as words can say it; RFC 5545, 3.3.10. */
export interface Pattern {
  readonly freq: Frequency;
  readonly interval: number;
  /** `MO`, or numbered as in `1MO` and `-1FR`. */
  readonly days: readonly string[];
  /** Days of a month; -1 is the last one. */
  readonly monthDays: readonly number[];
  /** 1 for January; goes with one day of the month. */
  readonly month: number | null;
  /** `HH:MM`. */
  readonly times: readonly string[];
  readonly count: number | null;
  /** `YYYY-MM-DD`, the last day. */
  readonly until: string | null;
  /** `YYYY-MM-DD` of something that happens once, at its only time. */
  readonly once: string | null;
}

const frequencies = ["MINUTELY", "HOURLY", "DAILY", "WEEKLY", "MONTHLY", "YEARLY"] as const;
export type Frequency = (typeof frequencies)[number];

export const weekdayCodes = ["MO", "TU", "WE", "TH", "FR", "SA", "SU"] as const;
export const workdays: readonly string[] = weekdayCodes.slice(0, 5);
export const weekend: readonly string[] = weekdayCodes.slice(5);

/** The rule of a pattern; undefined for times of day that one rule cannot hold. */
export function toRule(pattern: Pattern): string | undefined {
  const { freq, interval, days, monthDays, month, times, count, until, once } = pattern;
  if (once !== null) {
    const time = (times[0] ?? "00:00").replace(":", "");
    return `DTSTART:${once.replaceAll("-", "")}T${time}00\nRRULE:FREQ=DAILY;COUNT=1`;
  }
  const clock = toClock(times);
  if (clock === undefined) {
    return undefined;
  }
  return [
    `FREQ=${freq}`,
    ...(interval === 1 ? [] : [`INTERVAL=${interval}`]),
    ...(month === null ? [] : [`BYMONTH=${month}`]),
    ...(monthDays.length === 0 ? [] : [`BYMONTHDAY=${monthDays.join(",")}`]),
    ...(days.length === 0 ? [] : [`BYDAY=${days.join(",")}`]),
    ...clock,
    ...(count === null ? [] : [`COUNT=${count}`]),
    ...(until === null ? [] : [`UNTIL=${until.replaceAll("-", "")}`]),
  ].join(";");
}

/** Hours and minutes of a rule multiply: several times have one minute, or one hour. */
function toClock(times: readonly string[]): string[] | undefined {
  const hours = [...new Set(times.map((time) => Number(time.slice(0, 2))))];
  const minutes = [...new Set(times.map((time) => Number(time.slice(3))))];
  if (times.length === 0) {
    return [];
  }
  return hours.length * minutes.length === new Set(times).size
    ? [`BYHOUR=${hours.join(",")}`, `BYMINUTE=${minutes.join(",")}`]
    : undefined;
}

/** The pattern of a rule; undefined for a rule that words cannot say, or that is wrong. */
export function toPattern(rule: string): Pattern | undefined {
  const lines = rule.trim().split(/\r?\n/);
  const start = /^DTSTART:(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(?:00)?$/i.exec(
    lines.length === 2 ? (lines[0] as string) : "",
  );
  const parts = readParts(lines.at(-1) as string);
  if (parts === undefined || (lines.length > 1 && start === null)) {
    return undefined;
  }
  const freq = frequencies.find((known) => known === parts.get("FREQ"));
  const until = /^(\d{4})(\d\d)(\d\d)(?:T235959Z?)?$/.exec(parts.get("UNTIL") ?? "");
  const times = toTimes(parts);
  if (freq === undefined || times === undefined || (parts.has("UNTIL") && until === null)) {
    return undefined;
  }
  if (start !== null) {
    const [, year, month, day, hour, minute] = start;
    const isOnce = parts.get("COUNT") === "1" && parts.size === 2;
    const once = { ...blank, times: [`${hour}:${minute}`], once: `${year}-${month}-${day}`, count: 1 };
    return isOnce ? once : undefined;
  }
  const pattern: Pattern = {
    freq,
    interval: Number(parts.get("INTERVAL") ?? 1),
    days: parts.get("BYDAY")?.split(",") ?? [],
    monthDays: parts.get("BYMONTHDAY")?.split(",").map(Number) ?? [],
    month: parts.has("BYMONTH") ? Number(parts.get("BYMONTH")) : null,
    times,
    count: parts.has("COUNT") ? Number(parts.get("COUNT")) : null,
    until: until === null ? null : until.slice(1, 4).join("-"),
    once: null,
  };
  return isSayable(pattern) ? pattern : undefined;
}

export const blank: Pattern = {
  freq: "DAILY",
  interval: 1,
  days: [],
  monthDays: [],
  month: null,
  times: [],
  count: null,
  until: null,
  once: null,
};

const known = /^(FREQ|INTERVAL|COUNT|UNTIL|BYDAY|BYMONTHDAY|BYMONTH|BYHOUR|BYMINUTE|BYSECOND)$/;

function readParts(line: string): Map<string, string> | undefined {
  const parts = new Map<string, string>();
  for (const part of line
    .replace(/^RRULE:/i, "")
    .toUpperCase()
    .split(";")) {
    const [name = "", value = ""] = part.split("=");
    if (!known.test(name) || value === "" || parts.has(name)) {
      return undefined;
    }
    parts.set(name, value);
  }
  return parts.get("BYSECOND") === "0" || !parts.has("BYSECOND") ? parts : undefined;
}

function toTimes(parts: ReadonlyMap<string, string>): string[] | undefined {
  const [hours, minutes = "0"] = [parts.get("BYHOUR"), parts.get("BYMINUTE")];
  if (hours === undefined) {
    return parts.has("BYMINUTE") ? undefined : [];
  }
  const pad = (value: string) => value.padStart(2, "0");
  return hours
    .split(",")
    .flatMap((hour) => minutes.split(",").map((minute) => `${pad(hour)}:${pad(minute)}`))
    .toSorted();
}

/** True where words lose nothing of the rule. */
function isSayable({ freq, interval, days, monthDays, month, times, count }: Pattern): boolean {
  const isNumbered = days.some((day) => day.length > 2);
  const numbers = [
    interval,
    ...monthDays,
    ...(month === null ? [] : [month]),
    ...(count === null ? [] : [count]),
  ];
  const isSound =
    numbers.every((value) => Number.isInteger(value) && value !== 0) &&
    days.every((day) => /^(?:[1-5]|-1)?(?:MO|TU|WE|TH|FR|SA|SU)$/.test(day)) &&
    monthDays.every((day) => day === -1 || (day >= 1 && day <= 31)) &&
    times.every((time) => /^(?:[01]\d|2[0-3]):[0-5]\d$/.test(time)) &&
    (month === null || (month >= 1 && month <= 12));
  const fits: Readonly<Record<Frequency, boolean>> = {
    MINUTELY: days.length + monthDays.length + times.length === 0,
    HOURLY: days.length + monthDays.length + times.length === 0,
    DAILY: monthDays.length === 0 && days.length === 0,
    WEEKLY: monthDays.length === 0 && !isNumbered,
    MONTHLY: days.length === 0 || (monthDays.length === 0 && days.every((day) => day.length > 2)),
    YEARLY:
      days.length === 0 &&
      (month === null ? monthDays.length === 0 : monthDays.length === 1 && monthDays[0] !== -1),
  };
  return isSound && fits[freq] && (month === null || freq === "YEARLY");
}
