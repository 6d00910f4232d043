import { AppError } from "#kernel/errors.ts";

/** Frequencies of calendar events. Shorter ones belong to automations. */
export const frequencies = ["DAILY", "WEEKLY", "MONTHLY", "YEARLY"] as const;
export type Frequency = (typeof frequencies)[number];

/** A checked recurrence rule (RFC 5545, 3.3.10). */
export interface Rule {
  readonly freq: Frequency;
  readonly interval: number;
  readonly count: number | null;
  /** As written: `YYYYMMDD` or `YYYYMMDDTHHMMSS[Z]`. */
  readonly until: string | null;
  readonly wkst: string | null;
  /** Lists by their name in capitals, such as `BYDAY`. */
  readonly lists: Readonly<Record<string, readonly string[]>>;
}

const maxLength = 1_000;
const maxInterval = 1_000;
const maxCount = 1_000;
/** Most times of one day that a rule makes of its hours, minutes and seconds. */
const maxTimesADay = 12;

/** Smallest and largest number, whether negative ones count from the end, and the most entries. */
const ranges: Readonly<Record<string, { min: number; max: number; signed: boolean; most: number }>> = {
  BYSECOND: { min: 0, max: 59, signed: false, most: maxTimesADay },
  BYMINUTE: { min: 0, max: 59, signed: false, most: maxTimesADay },
  BYHOUR: { min: 0, max: 23, signed: false, most: maxTimesADay },
  BYMONTHDAY: { min: 1, max: 31, signed: true, most: 62 },
  BYYEARDAY: { min: 1, max: 366, signed: true, most: 100 },
  BYWEEKNO: { min: 1, max: 53, signed: true, most: 53 },
  BYMONTH: { min: 1, max: 12, signed: false, most: 12 },
  BYSETPOS: { min: 1, max: 366, signed: true, most: 62 },
};

/** Reads a rule, with or without `RRULE:`. Throws `invalid` with what is wrong, naming `rrule`. */
export function parseRule(text: string): Rule {
  if (text.length > maxLength) {
    refuse(`has more than ${maxLength} characters`);
  }
  const parts = readParts(text.trim().replace(/^RRULE:/i, ""));
  const freq = parts.get("FREQ") ?? "";
  if (!(frequencies as readonly string[]).includes(freq)) {
    refuse(`FREQ must be one of ${frequencies.join(", ")}`);
  }
  if (parts.has("COUNT") && parts.has("UNTIL")) {
    refuse("has COUNT and UNTIL; only one of them may end a rule");
  }
  const lists = Object.fromEntries(
    [...parts]
      .filter(([name]) => name.startsWith("BY"))
      .map(([name, value]) => [name, readList(name, value)]),
  );
  const rule: Rule = {
    freq: freq as Frequency,
    interval: readNumber("INTERVAL", parts.get("INTERVAL") ?? "1", maxInterval),
    count: parts.has("COUNT") ? readNumber("COUNT", parts.get("COUNT") ?? "", maxCount) : null,
    until: parts.get("UNTIL") ?? null,
    wkst: parts.get("WKST") ?? null,
    lists,
  };
  checkTogether(rule);
  return rule;
}

/** The rule as text, in the order that calendars write it. */
export function formatRule({ freq, interval, count, until, wkst, lists }: Rule): string {
  return [
    `FREQ=${freq}`,
    ...(interval === 1 ? [] : [`INTERVAL=${interval}`]),
    ...(count === null ? [] : [`COUNT=${count}`]),
    ...(until === null ? [] : [`UNTIL=${until}`]),
    ...Object.entries(lists).map(([name, values]) => `${name}=${values.join(",")}`),
    ...(wkst === null ? [] : [`WKST=${wkst}`]),
  ].join(";");
}

function readParts(text: string): Map<string, string> {
  const parts = new Map<string, string>();
  for (const part of text.split(";").filter((entry) => entry !== "")) {
    const [name = "", value = ""] = part.toUpperCase().split("=", 2);
    if (!/^(FREQ|INTERVAL|COUNT|UNTIL|WKST|BYDAY)$/.test(name) && !Object.hasOwn(ranges, name)) {
      refuse(`has the unknown part ${JSON.stringify(name.slice(0, 40))}`);
    }
    if (parts.has(name)) {
      refuse(`names ${name} twice`);
    }
    parts.set(name, value);
  }
  return parts;
}

function readNumber(name: string, text: string, max: number): number {
  const value = Number(text);
  if (!/^\d{1,6}$/.test(text) || value < 1 || value > max) {
    refuse(`${name} must be a whole number from 1 to ${max}`);
  }
  return value;
}

function readList(name: string, text: string): string[] {
  const values = [...new Set(text.split(","))];
  if (name === "BYDAY") {
    if (
      values.length > 60 ||
      values.some((value) => !/^([+-]?([1-9]|[1-4]\d|5[0-3]))?(MO|TU|WE|TH|FR|SA|SU)$/.test(value))
    ) {
      refuse("BYDAY holds something else than up to 60 weekdays such as MO or -1FR");
    }
    return values;
  }
  const { min, max, signed, most } = ranges[name] as (typeof ranges)[string];
  const fits = (value: string) =>
    (signed ? /^[+-]?\d{1,3}$/ : /^\d{1,2}$/).test(value) &&
    Math.abs(Number(value)) >= min &&
    Math.abs(Number(value)) <= max;
  if (values.length > most || !values.every(fits)) {
    refuse(`${name} holds something else than up to ${most} numbers from ${min} to ${max}`);
  }
  return values.map((value) => String(Number(value)));
}

function checkTogether({ freq, until, wkst, lists }: Rule): void {
  if (until !== null && !isMoment(until)) {
    refuse("UNTIL is no date such as 20261231 or 20261231T235959Z");
  }
  if (wkst !== null && !/^(MO|TU|WE|TH|FR|SA|SU)$/.test(wkst)) {
    refuse("WKST is no weekday such as MO");
  }
  const has = (name: string) => Object.hasOwn(lists, name);
  const times = ["BYHOUR", "BYMINUTE", "BYSECOND"].reduce(
    (product, name) => product * (lists[name]?.length ?? 1),
    1,
  );
  if (times > maxTimesADay) {
    refuse(`makes more than ${maxTimesADay} times of one day`);
  }
  if (has("BYWEEKNO") && freq !== "YEARLY") {
    refuse("BYWEEKNO goes with FREQ=YEARLY alone");
  }
  if (has("BYYEARDAY") && freq !== "YEARLY") {
    refuse("BYYEARDAY goes with FREQ=YEARLY alone");
  }
  if (has("BYMONTHDAY") && freq === "WEEKLY") {
    refuse("BYMONTHDAY does not go with FREQ=WEEKLY");
  }
  const isNumbered = (lists["BYDAY"] ?? []).some((day) => day.length > 2);
  if (isNumbered && (freq === "DAILY" || freq === "WEEKLY" || has("BYWEEKNO"))) {
    refuse("numbered weekdays go with FREQ=MONTHLY and FREQ=YEARLY without BYWEEKNO alone");
  }
  if (has("BYSETPOS") && Object.keys(lists).length === 1) {
    refuse("BYSETPOS needs another list to choose from");
  }
}

function isMoment(text: string): boolean {
  const match = /^(\d{4})(\d{2})(\d{2})(T(\d{2})(\d{2})(\d{2})Z?)?$/.exec(text);
  if (!match) {
    return false;
  }
  const [, year, month, day, , hour = "00", minute = "00", second = "00"] = match;
  const moment = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
  return (
    !Number.isNaN(moment) &&
    new Date(moment).getUTCDate() === Number(day) &&
    Number(year) >= 1900 &&
    Number(year) <= 2200
  );
}

function refuse(problem: string): never {
  throw new AppError("invalid", `rrule: ${problem}.`);
}
