import { randomUUID } from "node:crypto";
import type { Principal } from "#kernel/access/principal.ts";
import { AppError } from "#kernel/errors.ts";
import { anyOf } from "#storage/values.ts";
import type { EventValues } from "../events/form.ts";
import { exceptionsOf } from "../events/timing.ts";
import { zoneIn } from "../events/view.ts";
import { insertEvent, updateEvent } from "../events/write.ts";
import { announce, type CalendarParts } from "../parts.ts";
import { requireStored } from "../calendars.ts";
import { attendeesOf, events as eventRows, zonesOf } from "../store.ts";
import type { CalendarDatabase, CalendarRow, EventRow } from "../tables.ts";
import { type ReadEvent, readIcalendar, type Skipped } from "./read.ts";
import { toIcalendar } from "./write.ts";

/** Events of one answer: more is no file that a client reads. */
const mostWritten = 20_000;

export type Exchange = ReturnType<typeof createExchange>;

/** Calendars as files of iCalendar. */
export function createExchange(parts: CalendarParts) {
  const { db, transaction, calendars, events } = parts;
  return {
    /** The file of a calendar that the caller may read, people with their answers included. */
    async write(caller: Principal, id: string): Promise<{ name: string; text: string }> {
      requireStored(id);
      const row = await calendars.load(caller, id, "read");
      return { name: row.name, text: await writeCalendar(parts, row, { withPeople: true }) };
    },

    /**
     * Puts the events of a file into a calendar: those that it knows by their UID are changed, and what cannot be kept
     * is left out and named. Attendees are not taken over: a file must not invite people.
     */
    async read(caller: Principal, id: string, text: string) {
      requireStored(id);
      await calendars.load(caller, id, "write");
      const zone = (await zonesOf(db, [caller.userId])).get(caller.userId) ?? "UTC";
      const { events: read, skipped } = readIcalendar(text, zone);
      const done = await transaction((tx) => store(tx, { calendarId: id, userId: caller.userId }, read));
      const counts = { created: done.created, updated: done.updated };
      announce(events, "calendar.updated", { by: caller, id, data: { imported: counts } });
      return { ...counts, skipped: [...skipped, ...done.skipped] };
    },
  };
}

/** The text of a calendar; without people where whoever has the link reads it. */
export async function writeCalendar(
  parts: CalendarParts,
  calendar: CalendarRow,
  { withPeople }: { withPeople: boolean },
): Promise<string> {
  const rows = await eventRows(parts.db)
    .where("calendar_id", "=", calendar.id)
    .orderBy("start_at")
    .limit(mostWritten)
    .execute();
  const zones = await zonesOf(
    parts.db,
    rows.map(({ user_id: userId }) => userId),
  );
  const asked = withPeople
    ? await attendeesOf(
        parts.db,
        rows.map(({ id }) => id),
      )
    : new Map<string, never[]>();
  const people = await parts.accounts.summaries([...asked.values()].flat().map(({ user_id: id }) => id));
  return toIcalendar(
    calendar.name,
    rows.map((row) => ({
      ...row,
      zone: zoneIn(zones, row),
      attendees: (asked.get(row.id) ?? []).flatMap(({ user_id: id, status }) => {
        const person = people.get(id);
        return person === undefined ? [] : [{ email: person.email, name: person.name, status }];
      }),
    })),
  );
}

interface Place {
  readonly calendarId: string;
  readonly userId: string;
}

/** Overrides of occurrences have a UID of their own in the table, where one stands once in a calendar. */
const storedUid = ({ uid, recurrence }: ReadEvent): string =>
  recurrence === undefined ? uid : `${uid}/${recurrence}`;

async function store(tx: CalendarDatabase, place: Place, read: readonly ReadEvent[]) {
  const counts = { created: 0, updated: 0 };
  const skipped: Skipped[] = [];
  const held = await findHeld(tx, place, read);
  const overridden = Map.groupBy(
    read.filter(({ recurrence }) => recurrence !== undefined),
    ({ uid }) => uid,
  );
  const seen = new Set<string>();
  // A series first: what stands for one of its occurrences names its row.
  const ordered = read.toSorted(
    (one, other) => Number(one.recurrence !== undefined) - Number(other.recurrence !== undefined),
  );
  for (const event of ordered) {
    const uid = storedUid(event);
    const row = held.get(uid);
    const gone = (overridden.get(event.uid) ?? []).map(({ recurrence }) => recurrence as number);
    const series = event.recurrence === undefined ? undefined : held.get(event.uid);
    try {
      if (seen.has(uid)) {
        throw new AppError("invalid", "Its UID stands twice in the file.");
      }
      seen.add(uid);
      const id = row?.id ?? randomUUID();
      const values = toStored(event, { uid, row, series, gone });
      const at = { id, calendar_id: place.calendarId, user_id: row?.user_id ?? place.userId };
      await (row === undefined ? insertEvent(tx, at, values) : updateEvent(tx, at, values));
      held.set(uid, { id, user_id: at.user_id, data: values.data });
      counts[row === undefined ? "created" : "updated"] += 1;
    } catch (error) {
      if (!(error instanceof AppError)) {
        throw error;
      }
      skipped.push({ uid: event.uid, title: event.values.title, reason: error.message });
    }
  }
  return { ...counts, skipped };
}

type Held = Pick<EventRow, "id" | "user_id" | "data">;

async function findHeld(
  tx: CalendarDatabase,
  { calendarId }: Place,
  read: readonly ReadEvent[],
): Promise<Map<string, Held>> {
  const uids = [...new Set(read.flatMap((event) => [event.uid, storedUid(event)]))];
  const rows = await tx
    .selectFrom("calendar_event")
    .select(["id", "user_id", "data"])
    .where("calendar_id", "=", calendarId)
    .where((eb) => eb(eb.ref("data", "->>").key("uid"), "=", anyOf(uids)))
    .forUpdate()
    .execute();
  return new Map(rows.map((row) => [String(row.data["uid"]), row]));
}

function toStored(
  { values, recurrence }: ReadEvent,
  {
    uid,
    row,
    series,
    gone,
  }: { uid: string; row: Held | undefined; series: Held | undefined; gone: readonly number[] },
): EventValues {
  // Instances that people took out of the series here stay out.
  const exdates = new Set([...exceptionsOf(values.data), ...exceptionsOf(row?.data ?? {}), ...gone]);
  const isPart = recurrence !== undefined;
  return {
    ...values,
    rrule: isPart ? null : values.rrule,
    data: {
      ...values.data,
      uid,
      ...(!isPart &&
        values.rrule !== null && { exdates: [...exdates].toSorted((one, other) => one - other) }),
      ...(isPart && series !== undefined && { series_id: series.id, recurrence_id: recurrence }),
    },
  };
}
