import ICAL from "ical.js";
import { Temporal } from "temporal-polyfill";
import { isTimeZone } from "../events/form.ts";

const yearMs = 366 * 86_400_000;
/** Transitions that are written for one zone: 20 years of two a year. */
const mostTransitions = 40;

/**
 * The VTIMEZONE of an IANA zone from a year before a moment on (epoch milliseconds): readers that know no IANA zones
 * would let its times float.
 */
export function toTimezone(zone: string, from: number): ICAL.Component {
  const component = new ICAL.Component("vtimezone");
  component.updatePropertyWithValue("tzid", zone);
  const start = Temporal.Instant.fromEpochMilliseconds(from - yearMs).toZonedDateTimeISO(zone);
  const least = Math.min(start.offsetNanoseconds, start.add({ months: 6 }).offsetNanoseconds);
  const add = (at: Temporal.PlainDateTime, before: Temporal.ZonedDateTime, after: Temporal.ZonedDateTime) => {
    const observance = new ICAL.Component(after.offsetNanoseconds > least ? "daylight" : "standard");
    observance.updatePropertyWithValue("dtstart", toLocal(at));
    observance.updatePropertyWithValue("tzoffsetfrom", ICAL.UtcOffset.fromString(before.offset.slice(0, 6)));
    observance.updatePropertyWithValue("tzoffsetto", ICAL.UtcOffset.fromString(after.offset.slice(0, 6)));
    component.addSubcomponent(observance);
  };
  add(start.toPlainDateTime(), start, start);
  let last = start;
  for (let count = 0; count < mostTransitions; count += 1) {
    const next = last.getTimeZoneTransition("next");
    if (next === null) {
      break;
    }
    const before = next.subtract({ milliseconds: 1 });
    // Observances begin on the clock that was before.
    add(before.toPlainDateTime().add({ milliseconds: 1 }), before, next);
    last = next;
  }
  return component;
}

/** A time on a clock without a zone, as iCalendar writes it beside TZID. */
export function toLocal({ year, month, day, hour, minute, second }: Temporal.PlainDateTime): ICAL.Time {
  return ICAL.Time.fromData({ year, month, day, hour, minute, second, isDate: false });
}

/** Turns times of a TZID into moments; `zone` is the IANA zone that it stands for, where it stands for one. */
export interface ReadZone {
  readonly zone: string | undefined;
  /** Epoch milliseconds. */
  toMoment(time: ICAL.Time): number;
}

/**
 * Reads the TZIDs of a calendar. An IANA name is taken as that zone, whatever the file says of it; another one by its
 * VTIMEZONE. Undefined for one that is neither: such a time would float in silence.
 */
export function createZoneReader(calendar: ICAL.Component): (tzid: string) => ReadZone | undefined {
  const known = new Map<string, ReadZone | undefined>();
  return (tzid) => {
    if (!known.has(tzid)) {
      known.set(tzid, findZone(calendar, tzid));
    }
    return known.get(tzid);
  };
}

function findZone(calendar: ICAL.Component, tzid: string): ReadZone | undefined {
  const described = calendar
    .getAllSubcomponents("vtimezone")
    .find((component) => component.getFirstPropertyValue("tzid") === tzid);
  const names = [
    tzid,
    String(described?.getFirstPropertyValue("x-lic-location") ?? ""),
    tzid.split("/").slice(-2).join("/"),
  ];
  const zone = names.find(isTimeZone);
  if (zone !== undefined) {
    return { zone, toMoment: (time) => toMoment(time, zone) };
  }
  if (described === undefined) {
    return undefined;
  }
  const timezone = new ICAL.Timezone(described);
  return {
    zone: undefined,
    toMoment: (time) => {
      const placed = time.clone();
      placed.zone = timezone;
      return placed.toUnixTime() * 1_000;
    },
  };
}

/** Epoch milliseconds of a time or a date on the clock of a zone. */
export function toMoment({ year, month, day, hour, minute, second }: ICAL.Time, zone: string): number {
  return Temporal.PlainDateTime.from({ year, month, day, hour, minute, second }).toZonedDateTime(zone)
    .epochMilliseconds;
}
