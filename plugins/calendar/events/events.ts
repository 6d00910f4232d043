import { randomUUID } from "node:crypto";
import type { Principal } from "#kernel/access/principal.ts";
import { AppError } from "#kernel/errors.ts";
import { seconds } from "#storage/clock.ts";
import { ensureDefault } from "../calendars.ts";
import { announce, type CalendarParts, type LoadedEvent, refuse } from "../parts.ts";
import { scheduledTasksId } from "../service.ts";
import { findEvent } from "../store.ts";
import type { AttendeeStatus, CalendarDatabase } from "../tables.ts";
import { type EventForm, mergeValues } from "./form.ts";
import {
  detachOccurrence,
  dropOccurrence,
  endBefore,
  requireOccurrence,
  type Scope,
  splitSeries,
  toWholeForm,
} from "./series.ts";
import { startsOf } from "./timing.ts";
import { type ShownEvent, showEvents } from "./view.ts";
import { insertEvent, replaceAttendees, requireAttendees, updateEvent, zoneOf } from "./write.ts";

export interface NewEventForm extends EventForm {
  readonly title: string;
  readonly start_at: bigint;
}

/** The part of a series that is meant; `instance_start` names the occurrence (epoch nanoseconds). */
export interface Part {
  readonly scope: Scope;
  readonly instance_start?: bigint | undefined;
}

export type EventActions = ReturnType<typeof createEventActions>;

/** Actions on single events (configuration document, Calendar event; contract §9). */
export function createEventActions(parts: CalendarParts) {
  const { db, transaction, calendarEvents, events } = parts;

  return {
    async create(caller: Principal, form: NewEventForm): Promise<ShownEvent> {
      const calendarId = form.calendar_id ?? (await ensureDefault(db, caller.userId)).id;
      await requirePlace(parts, caller, calendarId);
      await requireAttendees(parts, form.attendees ?? []);
      const place = { id: randomUUID(), calendar_id: calendarId, user_id: caller.userId };
      const values = mergeValues(form, { ...empty, title: form.title, start_at: form.start_at });
      const invited = await transaction(async (tx) => {
        await insertEvent(tx, place, values);
        return await replaceAttendees(tx, place.id, form.attendees ?? []);
      });
      const data = { title: values.title, invited };
      announce(events, "calendar.event.created", { by: caller, id: place.id, data });
      return await show(parts, caller, place.id);
    },

    async get(caller: Principal, id: string): Promise<ShownEvent> {
      await calendarEvents.load(caller, id, "read");
      return await show(parts, caller, id);
    },

    /** Changes an event, one occurrence of it, or that and what follows; answers the event that says so now. */
    async update(
      caller: Principal,
      id: string,
      { form, part }: { form: EventForm; part: Part },
    ): Promise<ShownEvent> {
      const seen = await calendarEvents.load(caller, id, "write");
      const target = form.calendar_id ?? seen.calendar_id;
      if (target !== seen.calendar_id) {
        await requirePlace(parts, caller, target);
      }
      await requireAttendees(parts, form.attendees ?? []);
      const { changed, invited } = await transaction(async (tx) => {
        await tx.selectFrom("calendar_event").select("id").where("id", "=", id).forUpdate().execute();
        const row = await findEvent(tx, id);
        if (row === undefined) {
          throw new AppError("not_found", "Not found");
        }
        const written = await writePart(tx, row, { form, part, target });
        const asked =
          form.attendees === undefined ? [] : await replaceAttendees(tx, written, form.attendees ?? []);
        return { changed: written, invited: asked };
      });
      const data = { scope: part.scope, title: form.title ?? seen.title, invited };
      announce(events, "calendar.event.updated", { by: caller, id: changed, data });
      return await show(parts, caller, changed);
    },

    ...createEndings(parts),
  };
}

function createEndings(parts: CalendarParts) {
  const { db, transaction, calendarEvents, events } = parts;
  return {
    /** Deletes an event with its attendees, one occurrence of it, or that and what follows. */
    async remove(caller: Principal, id: string, part: Part): Promise<void> {
      const row = await calendarEvents.load(caller, id, "write");
      await transaction(async (tx) => {
        if (part.scope === "all") {
          await tx.deleteFrom("calendar_event").where("id", "=", id).execute();
          return;
        }
        const zone = await zoneOf(tx, row);
        const occurrence = requireOccurrence(row, zone, part.instance_start);
        const [first] = startsOf(row, zone, { from: 0, to: occurrence.at + 1, max: 1 });
        if (part.scope === "following" && first === occurrence.at) {
          await tx.deleteFrom("calendar_event").where("id", "=", id).execute();
        } else {
          await (part.scope === "this" ? dropOccurrence(tx, occurrence) : endBefore(tx, occurrence));
        }
      });
      announce(events, "calendar.event.deleted", { by: caller, id, data: { scope: part.scope } });
    },

    /** Answers an invitation. Throws `forbidden` for those who read the event and are not asked to it. */
    async answer(caller: Principal, id: string, status: AttendeeStatus): Promise<ShownEvent> {
      const { title, user_id: organizer } = await calendarEvents.load(caller, id, "read");
      const answered = await db
        .updateTable("calendar_event_attendee")
        .set({ status, updated_at: seconds() })
        .where("event_id", "=", id)
        .where("user_id", "=", caller.userId)
        .executeTakeFirst();
      if (answered.numUpdatedRows === 0n) {
        throw new AppError("forbidden", "You are not among the attendees of this event.");
      }
      announce(events, "calendar.event.rsvp_updated", { by: caller, id, data: { status, title, organizer } });
      return await show(parts, caller, id);
    },
  };
}

/** Writes a change where it is for; answers the id of the event that says so now. */
async function writePart(
  tx: CalendarDatabase,
  row: LoadedEvent,
  { form, part, target }: { form: EventForm; part: Part; target: string },
): Promise<string> {
  const place = { ...row, calendar_id: target };
  if (part.scope === "all" && (part.instance_start === undefined || row.rrule === null)) {
    await updateEvent(tx, place, mergeValues(form, row));
    return row.id;
  }
  const zone = await zoneOf(tx, row);
  const occurrence = requireOccurrence(row, zone, part.instance_start);
  const [first] = startsOf(row, zone, { from: 0, to: occurrence.at + 1, max: 1 });
  if (part.scope === "this") {
    return await detachOccurrence(tx, occurrence, form);
  }
  if (part.scope === "following" && first !== occurrence.at) {
    return await splitSeries(tx, occurrence, form);
  }
  const whole = toWholeForm(form, occurrence);
  await updateEvent(tx, place, mergeValues(whole.form, { ...row, data: whole.data }));
  return row.id;
}

async function show(parts: CalendarParts, caller: Principal, id: string): Promise<ShownEvent> {
  const row = await findEvent(parts.db, id);
  const [shown] = row === undefined ? [] : await showEvents(parts, caller, [row]);
  if (shown === undefined) {
    throw new AppError("not_found", "Not found");
  }
  return shown;
}

/** Throws `not_found` or `forbidden` for a calendar that the caller may not write. */
async function requirePlace(parts: CalendarParts, caller: Principal, id: string): Promise<void> {
  if (id === scheduledTasksId) {
    refuse("calendar_id", "the calendar Scheduled Tasks holds no events of people");
  }
  await parts.calendars.load(caller, id, "write");
}

const empty = {
  description: null,
  end_at: null,
  all_day: false,
  rrule: null,
  color: null,
  location: null,
  data: {},
  meta: {},
  is_cancelled: false,
};
