import { randomUUID } from "node:crypto";
import { Temporal } from "temporal-polyfill";
import { countBefore } from "../recurrence/expand.ts";
import { formatRule, parseRule } from "../recurrence/rule.ts";
import { toJson } from "#storage/values.ts";
import { refuse, toMs, toNs } from "../parts.ts";
import type { Bag, CalendarDatabase, EventRow } from "../tables.ts";
import { type EventForm, type EventValues, mergeValues } from "./form.ts";
import { exceptionsOf, startsOf, toSeries, withException } from "./timing.ts";
import { insertEvent, updateEvent } from "./write.ts";

/** What of a series a change is for. */
export type Scope = "all" | "this" | "following";

/** An occurrence of a series: the row, the zone it is expanded in, and the occurrence's start. */
export interface Occurrence {
  readonly row: EventRow;
  readonly zone: string;
  /** Epoch milliseconds. */
  readonly at: number;
}

/** Throws `invalid` for a start at which the series has no occurrence. */
export function requireOccurrence(row: EventRow, zone: string, start: bigint | undefined): Occurrence {
  if (row.rrule === null) {
    refuse("scope", "this event does not recur");
  }
  if (start === undefined) {
    refuse("instance_start", "is needed to name an occurrence");
  }
  const at = toMs(start);
  if (
    !startsOf({ ...row, end_at: null, occupied_until: withoutLength(row) }, zone, {
      from: at,
      to: at + 1,
      max: 1,
    }).includes(at)
  ) {
    refuse("instance_start", "the series has no occurrence that starts then");
  }
  return { row, zone, at };
}

/** Takes one occurrence out of its series. */
export async function dropOccurrence(tx: CalendarDatabase, { row, at }: Occurrence): Promise<void> {
  await updateEvent(tx, row, { ...row, data: withException(row.data, at) });
}

/** Makes one occurrence an event of its own; answers its id. */
export async function detachOccurrence(
  tx: CalendarDatabase,
  occurrence: Occurrence,
  form: EventForm,
): Promise<string> {
  const { row, at } = occurrence;
  await dropOccurrence(tx, occurrence);
  const values = mergeValues({ ...form, rrule: null }, atOccurrence(occurrence));
  const data = { ...without(values.data, ["exdates", "uid"]), series_id: row.id, recurrence_id: at };
  return await insertCopy(tx, row, { form, values: { ...values, rrule: null, data } });
}

/** Ends a series before an occurrence. */
export async function endBefore(tx: CalendarDatabase, { row, at }: Occurrence): Promise<void> {
  const until = new Date(at - 1000).toISOString().replace(/[-:]|\.\d+/g, "");
  const rrule = formatRule({ ...parseRule(row.rrule ?? ""), count: null, until });
  await updateEvent(tx, row, { ...row, rrule });
}

/** Ends a series before an occurrence and makes another one of what follows; answers its id. */
export async function splitSeries(
  tx: CalendarDatabase,
  occurrence: Occurrence,
  form: EventForm,
): Promise<string> {
  const { row, zone, at } = occurrence;
  const rule = parseRule(row.rrule ?? "");
  const rest = rule.count === null ? null : rule.count - countBefore(toSeries(row, zone), at);
  const before = { ...atOccurrence(occurrence), rrule: formatRule({ ...rule, count: rest }) };
  const values = mergeValues(form, before);
  const later = [...exceptionsOf(row.data)].filter((exception) => exception > at);
  const data = {
    ...without(values.data, ["uid"]),
    exdates: moved(later, zone, { from: at, to: toMs(values.start_at) }),
  };
  await endBefore(tx, occurrence);
  return await insertCopy(tx, row, { form, values: { ...values, data } });
}

/** A change of a whole series that speaks of one occurrence's time: the first one moves as far on the clock. */
export function toWholeForm(form: EventForm, { row, zone, at }: Occurrence): { form: EventForm; data: Bag } {
  const to = form.start_at === undefined ? at : toMs(form.start_at);
  const [first = 0] = moved([toMs(row.start_at)], zone, { from: at, to });
  const length = (form.end_at ?? undefined) === undefined ? undefined : toMs(form.end_at as bigint) - to;
  return {
    form: {
      ...form,
      ...(form.start_at === undefined ? {} : { start_at: toNs(first) }),
      ...(length === undefined ? {} : { end_at: toNs(first + length) }),
    },
    data: { ...row.data, exdates: moved([...exceptionsOf(row.data)], zone, { from: at, to }) },
  };
}

/** Moves moments as far on the clock of a zone as one moment moved. */
function moved(
  moments: readonly number[],
  zone: string,
  { from, to }: { from: number; to: number },
): number[] {
  const local = (at: number) =>
    Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(zone).toPlainDateTime();
  const distance = local(from).until(local(to), { largestUnit: "days" });
  return moments.map((at) => local(at).add(distance).toZonedDateTime(zone).epochMilliseconds);
}

function atOccurrence({ row, at }: Occurrence): EventValues {
  const length = row.end_at === null ? null : toMs(row.end_at) - toMs(row.start_at);
  const { title, description, all_day, rrule, color, location, data, meta, is_cancelled } = row;
  const values = { title, description, all_day, rrule, color, location, data, is_cancelled };
  const times = { start_at: toNs(at), end_at: length === null ? null : toNs(at + length) };
  return { ...values, ...times, meta: without(meta, ["alerted_at", "alerted_start"]) };
}

async function insertCopy(
  tx: CalendarDatabase,
  row: EventRow,
  { form, values }: { form: EventForm; values: EventValues },
): Promise<string> {
  const id = randomUUID();
  await insertEvent(
    tx,
    { id, calendar_id: form.calendar_id ?? row.calendar_id, user_id: row.user_id },
    values,
  );
  const attendees = await tx
    .selectFrom("calendar_event_attendee")
    .selectAll()
    .where("event_id", "=", row.id)
    .execute();
  if (attendees.length > 0) {
    await tx
      .insertInto("calendar_event_attendee")
      .values(
        attendees.map((attendee) => ({
          ...attendee,
          meta: toJson(attendee.meta),
          id: randomUUID(),
          event_id: id,
        })),
      )
      .execute();
  }
  return id;
}

/** The last start of a series, which is what bounds it once its occurrences have no length. */
function withoutLength(row: EventRow): bigint | null {
  const { last } = toSeries(row, "UTC");
  return last === null ? null : toNs(last);
}

function without(bag: Bag, keys: readonly string[]): Bag {
  return Object.fromEntries(Object.entries(bag).filter(([key]) => !keys.includes(key)));
}
