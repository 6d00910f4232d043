import ICAL from "ical.js";
import { Temporal } from "temporal-polyfill";
import { exceptionsOf } from "../events/timing.ts";
import { toMs } from "../parts.ts";
import { toUntil } from "../recurrence/expand.ts";
import { formatRule, parseRule } from "../recurrence/rule.ts";
import type { EventRow } from "../tables.ts";
import { toLocal, toTimezone } from "./zones.ts";

/** An event as a file of iCalendar has it. */
export interface WrittenEvent extends Pick<
  EventRow,
  | "id"
  | "title"
  | "description"
  | "location"
  | "start_at"
  | "end_at"
  | "all_day"
  | "rrule"
  | "data"
  | "meta"
  | "is_cancelled"
  | "created_at"
  | "updated_at"
> {
  /** IANA zone whose clock it keeps. */
  readonly zone: string;
  readonly attendees: readonly { readonly email: string; readonly name: string; readonly status: string }[];
}

/** A calendar as text of iCalendar (RFC 5545), with a VTIMEZONE for each zone that a series keeps. */
export function toIcalendar(name: string, events: readonly WrittenEvent[]): string {
  const calendar = new ICAL.Component("vcalendar");
  calendar.updatePropertyWithValue("version", "2.0");
  calendar.updatePropertyWithValue("prodid", "-//Millrace//Calendar//EN");
  calendar.updatePropertyWithValue("x-wr-calname", name);
  const series = events.filter(({ rrule, all_day: isDay }) => rrule !== null && !isDay);
  for (const [zone, rows] of Map.groupBy(series, (event) => event.zone)) {
    calendar.addSubcomponent(toTimezone(zone, Math.min(...rows.map(({ start_at: at }) => toMs(at)))));
  }
  for (const event of events) {
    calendar.addSubcomponent(toEvent(event));
  }
  return `${calendar.toString()}\r\n`;
}

function toEvent(event: WrittenEvent): ICAL.Component {
  const component = new ICAL.Component("vevent");
  const set = (name: string, value: unknown) => component.updatePropertyWithValue(name, value as string);
  const uid = event.data["uid"];
  set("uid", typeof uid === "string" ? uid : event.id);
  set("dtstamp", toUtc(event.updated_at * 1_000));
  set("created", toUtc(event.created_at * 1_000));
  set("summary", event.title);
  addTime(component, "dtstart", toMs(event.start_at), event);
  if (event.end_at !== null) {
    addTime(component, "dtend", toMs(event.end_at), event);
  }
  for (const [property, text] of [
    ["description", event.description],
    ["location", event.location],
  ] as const) {
    if (text !== null && text !== "") {
      set(property, text);
    }
  }
  if (event.rrule !== null) {
    set("rrule", ICAL.Recur.fromString(toWrittenRule(event.rrule, event)));
    for (const at of exceptionsOf(event.data)) {
      addTime(component, "exdate", at, event);
    }
  }
  if (event.is_cancelled) {
    set("status", "CANCELLED");
  }
  addAttendees(component, event);
  addAlarm(component, event);
  return component;
}

/** Series keep the clock of their zone, days have none, and what happens once is a moment. */
function addTime(
  component: ICAL.Component,
  name: string,
  at: number,
  { all_day: isDay, rrule, zone }: WrittenEvent,
): void {
  const local = Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(zone).toPlainDateTime();
  const property = new ICAL.Property(name);
  if (isDay) {
    const { year, month, day } = local;
    property.resetType("date");
    property.setValue(ICAL.Time.fromData({ year, month, day, isDate: true }));
  } else if (rrule === null) {
    property.setValue(toUtc(at));
  } else {
    property.setParameter("tzid", zone);
    property.setValue(toLocal(local));
  }
  component.addProperty(property);
}

/** The end of a rule in UTC, as it must stand beside a start with a zone; of a series of days a date. */
function toWrittenRule(text: string, { all_day: isDay, zone }: WrittenEvent): string {
  const rule = parseRule(text);
  if (rule.until === null) {
    return formatRule(rule);
  }
  const until = isDay
    ? rule.until.slice(0, 8)
    : new Date(toUntil(rule.until, zone)).toISOString().replace(/[-:]|\.\d+/g, "");
  return formatRule({ ...rule, until });
}

const toUtc = (at: number): ICAL.Time => ICAL.Time.fromJSDate(new Date(at), true);

function addAttendees(component: ICAL.Component, { attendees }: WrittenEvent): void {
  const answers: Readonly<Record<string, string>> = {
    accepted: "ACCEPTED",
    declined: "DECLINED",
    tentative: "TENTATIVE",
  };
  for (const { email, name, status } of attendees) {
    const property = new ICAL.Property("attendee");
    property.setParameter("cn", name);
    property.setParameter("partstat", answers[status] ?? "NEEDS-ACTION");
    property.setValue(`mailto:${email}`);
    component.addProperty(property);
  }
}

function addAlarm(component: ICAL.Component, { meta, title }: WrittenEvent): void {
  const minutes = meta["alert_minutes"];
  if (typeof minutes === "number" && minutes >= 0) {
    const alarm = new ICAL.Component("valarm");
    alarm.updatePropertyWithValue("action", "DISPLAY");
    alarm.updatePropertyWithValue("description", title);
    alarm.updatePropertyWithValue("trigger", ICAL.Duration.fromSeconds(-minutes * 60));
    component.addSubcomponent(alarm);
  }
}
