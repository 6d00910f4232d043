import { fromAbsolute } from "@internationalized/date";
import { AppError } from "#kernel/errors.ts";

export const units = ["years", "months", "weeks", "days", "hours", "minutes"] as const;

/** How far to go, each unit on its own; negative is back. */
export type Offset = Readonly<Partial<Record<(typeof units)[number], number>>>;

export interface Moment {
  /** Epoch seconds. */
  readonly timestamp: number;
  /** With the zone's distance from UTC at that moment. */
  readonly iso: string;
  readonly weekday: string;
}

/** A moment as a clock in that zone shows it. */
export function toMoment(epochMs: number, zone: string): Moment {
  const wholeSecond = Math.floor(epochMs / 1000) * 1000;
  return {
    timestamp: wholeSecond / 1000,
    // Without the name of the zone, which RFC 3339 does not know.
    iso: fromAbsolute(wholeSecond, zone)
      .toString()
      .replace(/\[[^[]*$/, ""),
    weekday: new Intl.DateTimeFormat("en-US", { weekday: "long", timeZone: zone }).format(wholeSecond),
  };
}

/** Days and longer keep the time of day over changes of daylight saving time; hours and minutes are exact. */
export function moveMoment(epochMs: number, zone: string, offset: Offset): number {
  const { hours = 0, minutes = 0, ...calendar } = offset;
  const moved =
    fromAbsolute(epochMs, zone).add(calendar).toDate().getTime() + (hours * 60 + minutes) * 60_000;
  const { year } = fromAbsolute(moved, "UTC");
  if (!Number.isFinite(moved) || year < 1 || year > 9999 || moved < minMs || moved > maxMs) {
    throw new AppError("invalid", "The date lies outside of the years 1 to 9999.");
  }
  return moved;
}

const minMs = Date.parse("0001-01-01T00:00:00Z");
const maxMs = Date.parse("9999-12-31T00:00:00Z");

/** Whether a value names a time zone that this server knows. */
export function isTimeZone(value: unknown): value is string {
  if (typeof value !== "string" || value === "" || value.length > 100) {
    return false;
  }
  try {
    new Intl.DateTimeFormat("en-US", { timeZone: value }).resolvedOptions();
    return true;
  } catch {
    return false;
  }
}
