import { t } from "#plugins/web/kit/i18n/index.svelte.ts";
import { toLocalDay } from "#plugins/web/kit/local-day.ts";
import { Meanwhile } from "#plugins/web/kit/meanwhile.ts";
import { server } from "#plugins/web/kit/server.ts";
import { serverNow } from "#plugins/web/kit/stores/server-time.ts";
import { addDays, fromInputs, toNs, toTimeInput } from "./dates.ts";
import { type Asked, toAsked } from "./attendees.ts";
import type { Scope } from "./moving.ts";
import type { Calendar, Occurrence } from "./events.svelte.ts";
import { nextHourOn } from "./wall-clock.ts";

/** The fields of an event's form; dates and times as their inputs have them. */
export interface Draft {
  title: string;
  allDay: boolean;
  startDate: string;
  startTime: string;
  endDate: string;
  endTime: string;
  /** "none" for an event that does not repeat. */
  rrule: string;
  calendarId: string;
  location: string;
  description: string;
  /** Minutes before the start, "-1" for none, empty for what the platform has. */
  reminder: string;
  scope: Scope;
  people: readonly Asked[];
}

const hour = 3_600_000;

/** An occurrence that is shown; without one a new event on a day, or from a moment to its end. */
export interface Edited {
  readonly day: Date;
  readonly end?: Date | undefined;
  readonly occurrence: Occurrence | undefined;
}

/** The form of an event that is there, or of a new one. */
export function toDraft({ day, end: until, occurrence }: Edited, calendars: readonly Calendar[]): Draft {
  const { event } = occurrence ?? {};
  const start = occurrence?.start ?? (until ? day : nextHourOn(day, new Date(serverNow())));
  const end = occurrence?.end ?? until ?? new Date(start.getTime() + (occurrence ? 0 : hour));
  // The last day of an event that takes whole days ends with it.
  const last = event?.all_day && end > start ? addDays(end, -1) : end;
  return {
    title: event?.title ?? "",
    allDay: event?.all_day ?? false,
    startDate: toLocalDay(start),
    startTime: toTimeInput(start),
    endDate: toLocalDay(last),
    endTime: toTimeInput(end),
    rrule: event?.rrule ?? "none",
    calendarId: event?.calendar_id ?? calendars.find(({ is_default: isDefault }) => isDefault)?.id ?? "",
    location: event?.location ?? "",
    description: event?.description ?? "",
    reminder: toReminder(event?.meta["alert_minutes"]),
    scope: "this",
    people: event ? toAsked(event) : [],
  };
}

const toReminder = (minutes: unknown): string =>
  minutes === "none" ? "-1" : typeof minutes === "number" ? String(minutes) : "";

/** Reminders to choose from; a time of another client is one of them. */
export function reminders(chosen: string): { value: string; label: string }[] {
  const usual = [
    { value: "", label: t("Default") },
    { value: "-1", label: t("No reminder") },
    { value: "0", label: t("When it starts") },
    ...[5, 10, 15, 30].map((minutes) => ({
      value: String(minutes),
      label: t("{minutes} minutes before", { minutes }),
    })),
    { value: "60", label: t("1 hour before") },
    { value: "1440", label: t("1 day before") },
  ];
  return usual.some(({ value }) => value === chosen)
    ? usual
    : [...usual, { value: chosen, label: t("{minutes} minutes before", { minutes: chosen }) }];
}

/** The usual ways to repeat. */
export const repeats = (): { value: string; label: string }[] => [
  { value: "none", label: t("never") },
  { value: "FREQ=DAILY", label: t("every day") },
  { value: "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR", label: t("every weekday") },
  { value: "FREQ=WEEKLY", label: t("every week") },
  { value: "FREQ=WEEKLY;INTERVAL=2", label: t("every two weeks") },
  { value: "FREQ=MONTHLY", label: t("every month") },
  { value: "FREQ=YEARLY", label: t("every year") },
];

type Stored = Pick<Occurrence["event"], "title" | "location" | "description" | "meta">;

/** The texts of an event that somebody else may change while a form shows it. */
const textsOf = ({ title, location, description, meta }: Stored) => ({
  title,
  location: location ?? "",
  description: description ?? "",
  reminder: toReminder(meta["alert_minutes"]),
});

/** Knows what others store of an event while a form changes it. */
export const followEvent = (event: Occurrence["event"]) =>
  new Meanwhile(textsOf(event), async () =>
    textsOf(await server.call("GET /api/v1/calendars/events/:id", { params: { id: event.id } })),
  );

/** Stores the form: as a new event, or as a change of the occurrence or its series. Throws what the server says. */
export async function saveEvent(
  draft: Draft,
  occurrence: Occurrence | undefined,
  meanwhile: ReturnType<typeof followEvent> | undefined,
): Promise<void> {
  const start = fromInputs(draft.startDate, draft.allDay ? "" : draft.startTime);
  const end = fromInputs(draft.endDate, draft.allDay ? "" : draft.endTime);
  if (start === undefined || end === undefined || end < start) {
    throw new Error(t("The end lies before the beginning."));
  }
  const typed = {
    title: draft.title.trim(),
    location: draft.location.trim(),
    description: draft.description.trim(),
    reminder: draft.reminder,
  };
  const { title, location, description, reminder } = (await meanwhile?.join(typed)) ?? typed;
  const body = {
    title,
    all_day: draft.allDay,
    start_at: toNs(start.getTime()),
    end_at: toNs((draft.allDay ? addDays(end, 1) : end).getTime()),
    location: location || null,
    description: description || null,
    meta: { alert_minutes: reminder === "" ? null : Number(reminder) },
  };
  const rrule = draft.rrule === "none" ? null : draft.rrule;
  if (occurrence === undefined) {
    const attendees = draft.people.map(({ id }) => ({ user_id: id }));
    const data = { timezone: Intl.DateTimeFormat().resolvedOptions().timeZone };
    await server.call("POST /api/v1/calendars/events/create", {
      body: { ...body, rrule, data, attendees, calendar_id: draft.calendarId || null },
    });
    return;
  }
  const { event } = occurrence;
  const isSeries = event.rrule !== null;
  const isRuleChanged = rrule !== event.rrule;
  await server.call("POST /api/v1/calendars/events/:id/update", {
    params: { id: event.id },
    body: {
      ...body,
      ...(draft.calendarId !== event.calendar_id && { calendar_id: draft.calendarId }),
      ...(isNew(draft.people, event) && { attendees: draft.people.map(({ id }) => ({ user_id: id })) }),
      ...(isRuleChanged && { rrule }),
      ...(isSeries && { scope: draft.scope, instance_start: toNs(occurrence.start.getTime()) }),
    },
  });
}

/** Deletes the event, or what of its series the form names. */
export async function removeEvent(draft: Draft, { event, start }: Occurrence): Promise<void> {
  const query =
    event.rrule === null ? {} : { scope: draft.scope, instance_start: String(toNs(start.getTime())) };
  await server.call("DELETE /api/v1/calendars/events/:id/delete", { params: { id: event.id }, query });
}

/** True when other people are asked than before. */
function isNew(people: readonly Asked[], event: Occurrence["event"]): boolean {
  const before = new Set(event.attendees.map(({ user_id: id }) => id));
  return people.length !== before.size || people.some(({ id }) => !before.has(id));
}
