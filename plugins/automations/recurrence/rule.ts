import { AppError } from "#kernel/errors.ts";

/** A checked rule: `DTSTART`, when there is one, and one `RRULE` (RFC 5545, 3.3.10). */
export interface Rule {
  readonly freq: (typeof frequencies)[number];
  readonly interval: number;
  readonly count: number | null;
  /** As written: `YYYYMMDD` or `YYYYMMDDTHHMMSS[Z]`. */
  readonly until: string | null;
  /** As written, with its zone where it names one. */
  readonly start: { readonly text: string; readonly zone: string | null } | null;
  /** The other parts by name. */
  readonly parts: ReadonlyMap<string, string>;
}

const frequencies = ["MINUTELY", "HOURLY", "DAILY", "WEEKLY", "MONTHLY", "YEARLY"] as const;
const maxLength = 2_000;
const maxCount = 1_000;
const maxInterval = 10_000;
/** Values of all lists together: expansion stays below 50 ms. */
const maxValues = 100;

const ranges: Readonly<Record<string, readonly [min: number, max: number, signed: boolean]>> = {
  BYSECOND: [0, 59, false],
  BYMINUTE: [0, 59, false],
  BYHOUR: [0, 23, false],
  BYMONTHDAY: [1, 31, true],
  BYYEARDAY: [1, 366, true],
  BYWEEKNO: [1, 53, true],
  BYMONTH: [1, 12, false],
  BYSETPOS: [1, 366, true],
};
const moment = /^(\d{4})(\d\d)(\d\d)(?:T(\d\d)(\d\d)(\d\d)?(Z)?)?$/;
const weekday = /^(?:[+-]?\d{1,2})?(?:MO|TU|WE|TH|FR|SA|SU)$/;

/** Reads a rule. Throws `invalid` with what is wrong with it. */
export function parseRule(text: string): Rule {
  if (text.length > maxLength) {
    throw wrong(`is longer than ${maxLength} characters.`);
  }
  const lines = text
    .trim()
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== "");
  const start = lines.filter((line) => /^DTSTART\b/i.test(line));
  const rules = lines.filter((line) => /^(?:RRULE:|FREQ=)/i.test(line));
  if (start.length > 1 || rules.length !== 1 || start.length + rules.length < lines.length) {
    throw wrong("takes one RRULE and at most one DTSTART, and nothing else.");
  }
  return readParts(rules[0] as string, start[0] === undefined ? null : readStart(start[0]));
}

function readStart(line: string): NonNullable<Rule["start"]> {
  const [, zone = null, text = ""] = /^DTSTART(?:;TZID=([^:;]+))?:(.+)$/i.exec(line) ?? [];
  const year = Number(moment.exec(text)?.[1]);
  if (!(year >= 1970 && year <= 2200) || !isDate(text)) {
    throw wrong("DTSTART is no date between the years 1970 and 2200, such as 20260101T090000.");
  }
  if (zone !== null && !isZone(zone)) {
    throw wrong(`DTSTART names the unknown time zone ${zone}.`);
  }
  return { text, zone };
}

function readParts(line: string, start: Rule["start"]): Rule {
  const parts = new Map<string, string>();
  for (const part of line
    .replace(/^RRULE:/i, "")
    .toUpperCase()
    .split(";")) {
    const [name = "", value = "", ...more] = part.split("=");
    if (value === "" || more.length > 0 || parts.has(name)) {
      throw wrong(`"${part.slice(0, 40)}" is no part of a rule, or stands twice.`);
    }
    parts.set(name, value);
  }
  const take = (name: string): string | null => {
    const value = parts.get(name) ?? null;
    parts.delete(name);
    return value;
  };
  const freq = frequencies.find((known) => known === parts.get("FREQ"));
  if (freq === undefined) {
    throw wrong(`FREQ must be one of ${frequencies.join(", ")}.`);
  }
  parts.delete("FREQ");
  const [count, until] = [take("COUNT"), take("UNTIL")];
  const interval = toNumber("INTERVAL", take("INTERVAL") ?? "1", maxInterval);
  if (count !== null && until !== null) {
    throw wrong("takes COUNT or UNTIL, not both.");
  }
  if (until !== null && !isDate(until)) {
    throw wrong("UNTIL is no date such as 20261231T235959Z.");
  }
  requireLists(parts);
  if (parts.size > 0 && (freq === "MINUTELY" || freq === "HOURLY")) {
    throw wrong(`FREQ=${freq} takes no lists. Write FREQ=DAILY with BYHOUR and BYMINUTE instead.`);
  }
  return {
    freq,
    interval,
    count: count === null ? null : toNumber("COUNT", count, maxCount),
    until,
    start,
    parts,
  };
}

function requireLists(parts: ReadonlyMap<string, string>): void {
  let values = 0;
  for (const [name, text] of parts) {
    const entries = text.split(",");
    values += entries.length;
    if (values > maxValues) {
      throw wrong(`has more than ${maxValues} values.`);
    }
    const range = ranges[name];
    const fits =
      name === "WKST"
        ? /^(?:MO|TU|WE|TH|FR|SA|SU)$/.test(text)
        : name === "BYDAY"
          ? entries.every((entry) => weekday.test(entry))
          : range !== undefined && entries.every((entry) => isWithin(entry, range));
    if (!fits) {
      throw wrong(`${name.slice(0, 40)} is unknown or has a wrong value.`);
    }
  }
}

function isWithin(text: string, [min, max, signed]: readonly [number, number, boolean]): boolean {
  const value = Number(text);
  const size = signed ? Math.abs(value) : value;
  return /^[+-]?\d{1,3}$/.test(text) && size >= min && size <= max;
}

function toNumber(name: string, text: string, max: number): number {
  const value = /^\d{1,6}$/.test(text) ? Number(text) : 0;
  if (value < 1 || value > max) {
    throw wrong(`${name} must be a whole number from 1 to ${max}.`);
  }
  return value;
}

function isDate(text: string): boolean {
  const [, year, month, day, hour = "00", minute = "00", second = "00"] = moment.exec(text) ?? [];
  const iso = `${year}-${month}-${day}T${hour}:${minute}:${second}.000Z`;
  const date = new Date(iso);
  return !Number.isNaN(date.getTime()) && date.toISOString() === iso;
}

export function isZone(zone: string): boolean {
  try {
    return new Intl.DateTimeFormat("en", { timeZone: zone }).resolvedOptions().timeZone !== "";
  } catch {
    return false;
  }
}

export function wrong(text: string): AppError {
  return new AppError("invalid", `data.rrule: ${text}`);
}
