import ICAL from "ical.js";
import { AppError } from "#kernel/errors.ts";
import type { EventValues } from "../events/form.ts";
import { toNs } from "../parts.ts";
import { parseRule } from "../recurrence/rule.ts";
import { createZoneReader, type ReadZone, toMoment } from "./zones.ts";

/** Events of one file. */
const mostEvents = 5_000;
const day = 86_400_000;

/** An event of a file. */
export interface ReadEvent {
  readonly uid: string;
  /** The start (epoch milliseconds) of the occurrence of the series `uid` that it stands for. */
  readonly recurrence: number | undefined;
  /** `data.exdates` holds what the file takes out of a series. */
  readonly values: EventValues;
}

/** An event that was left out, and why. */
export interface Skipped {
  readonly uid: string;
  readonly title: string;
  readonly reason: string;
}

/** The events of a file of iCalendar; `zone` is the clock of times that name none. Throws `invalid` for another text. */
export function readIcalendar(text: string, zone: string): { events: ReadEvent[]; skipped: Skipped[] } {
  const [events, skipped]: [ReadEvent[], Skipped[]] = [[], []];
  for (const calendar of parse(text)) {
    const findZone = createZoneReader(calendar);
    for (const component of calendar.getAllSubcomponents("vevent")) {
      if (events.length + skipped.length >= mostEvents) {
        throw new AppError("invalid", `ics: holds more than ${mostEvents} events. Import it in parts.`);
      }
      try {
        events.push(readEvent(component, { zone, findZone }));
      } catch (error) {
        // Values that the library cannot read throw its own errors.
        const reason = error instanceof Error ? error.message : String(error);
        skipped.push({
          uid: textOf(component, "uid", 200),
          title: textOf(component, "summary", 200),
          reason,
        });
      }
    }
  }
  return { events, skipped };
}

function parse(text: string): ICAL.Component[] {
  let parsed: unknown[];
  try {
    parsed = ICAL.parse(text) as unknown[];
  } catch {
    throw new AppError("invalid", "ics: is no text of iCalendar.");
  }
  const roots = (typeof parsed[0] === "string" ? [parsed] : parsed) as unknown[][];
  const calendars = roots
    .filter(([name]) => name === "vcalendar")
    .map((root) => new ICAL.Component(root as ConstructorParameters<typeof ICAL.Component>[0]));
  if (calendars.length === 0) {
    throw new AppError("invalid", "ics: holds no VCALENDAR.");
  }
  return calendars;
}

interface Clock {
  readonly zone: string;
  findZone(tzid: string): ReadZone | undefined;
}

interface Moment {
  readonly at: number;
  readonly isDay: boolean;
  /** The IANA zone that the time names; undefined for one that it cannot keep. */
  readonly zone: string | undefined;
  readonly hasOwnZone: boolean;
}

function readEvent(component: ICAL.Component, clock: Clock): ReadEvent {
  const uid = textOf(component, "uid", 500);
  if (uid === "") {
    throw new Error("It has no UID.");
  }
  const start = readMoment(component.getFirstProperty("dtstart"), clock);
  if (start === undefined) {
    throw new Error("It has no DTSTART.");
  }
  const rrule = readRule(component);
  if (rrule !== null && start.zone === undefined) {
    throw new Error("It repeats in a time zone that is unknown here.");
  }
  const end = readEnd(component, start, clock);
  const recurrence = readMoment(component.getFirstProperty("recurrence-id"), clock)?.at;
  const exdates = component
    .getAllProperties("exdate")
    .flatMap((property) =>
      property.getValues().map((time) => momentOf(property, time as ICAL.Time, clock).at),
    );
  const alert = readAlarm(component);
  const zone = start.hasOwnZone && start.zone !== undefined ? start.zone : undefined;
  return {
    uid,
    recurrence,
    values: {
      title: textOf(component, "summary", 500) || uid,
      description: textOf(component, "description", 20_000) || null,
      location: textOf(component, "location", 2_000) || null,
      start_at: toNs(start.at),
      end_at: end === null ? null : toNs(end),
      all_day: start.isDay,
      rrule,
      color: null,
      data: {
        ...(zone !== undefined && { timezone: zone }),
        ...(exdates.length > 0 && { exdates: [...new Set(exdates)].toSorted((one, other) => one - other) }),
      },
      meta: alert === undefined ? {} : { alert_minutes: alert },
      is_cancelled: textOf(component, "status", 20).toUpperCase() === "CANCELLED",
    },
  };
}

/** Throws for what the platform cannot repeat: nothing of a series is dropped in silence. */
function readRule(component: ICAL.Component): string | null {
  const rules = component.getAllProperties("rrule");
  if (rules.length > 1 || component.hasProperty("rdate") || component.hasProperty("exrule")) {
    throw new Error("It repeats by RDATE, EXRULE or several rules, which are not supported.");
  }
  const [rule] = rules;
  if (rule === undefined) {
    return null;
  }
  const text = String(rule.getFirstValue());
  parseRule(text);
  return text;
}

function readEnd(component: ICAL.Component, start: Moment, clock: Clock): number | null {
  const end = readMoment(component.getFirstProperty("dtend"), clock);
  if (end !== undefined) {
    return end.at;
  }
  const duration = component.getFirstPropertyValue("duration");
  if (duration instanceof ICAL.Duration) {
    return start.at + duration.toSeconds() * 1_000;
  }
  return start.isDay ? start.at + day : null;
}

function readMoment(property: ICAL.Property | null, clock: Clock): Moment | undefined {
  return property === null ? undefined : momentOf(property, property.getFirstValue() as ICAL.Time, clock);
}

function momentOf(property: ICAL.Property, time: ICAL.Time, { zone, findZone }: Clock): Moment {
  if (!(time instanceof ICAL.Time) || !(time.year >= 1900 && time.year <= 2200)) {
    throw new Error(`${property.name.toUpperCase()} is no time of the years 1900 to 2200.`);
  }
  if (time.isDate) {
    return { at: toMoment(time, zone), isDay: true, zone, hasOwnZone: false };
  }
  if (time.zone === ICAL.Timezone.utcTimezone) {
    return { at: toMoment(time, "UTC"), isDay: false, zone: "UTC", hasOwnZone: true };
  }
  const tzid = property.getFirstParameter("tzid");
  if (!tzid) {
    return { at: toMoment(time, zone), isDay: false, zone, hasOwnZone: false };
  }
  const found = findZone(tzid);
  if (found === undefined) {
    throw new Error(`Its time zone ${tzid.slice(0, 100)} is unknown, and the file does not describe it.`);
  }
  return { at: found.toMoment(time), isDay: false, zone: found.zone, hasOwnZone: true };
}

/** Minutes before the start of the first alarm that speaks of it. */
function readAlarm(component: ICAL.Component): number | undefined {
  const trigger = component.getFirstSubcomponent("valarm")?.getFirstPropertyValue("trigger");
  const minutes = trigger instanceof ICAL.Duration ? -trigger.toSeconds() / 60 : -1;
  return minutes >= 0 && minutes <= 40_320 ? Math.round(minutes) : undefined;
}

const textOf = (component: ICAL.Component, name: string, most: number): string =>
  String(component.getFirstPropertyValue(name) ?? "")
    .trim()
    .slice(0, most);
