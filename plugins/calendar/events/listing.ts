import { sql } from "kysely";
import { Temporal } from "temporal-polyfill";
import type { Principal } from "#kernel/access/principal.ts";
import { anyOf } from "#storage/values.ts";
import { type CalendarParts, refuse, toNs } from "../parts.ts";
import { scheduledTasksId } from "../service.ts";
import { events as eventRows, readableCalendars, zonesOf } from "../store.ts";
import { startsOf } from "./timing.ts";
import { showEvents, type ShownEvent, toInstance, zoneIn } from "./view.ts";

/** Longest window and most instances of one answer. */
const maxDays = 800;
const maxInstances = 5_000;
const maxRows = 20_000;
const day = 86_400_000;

export type EventListing = ReturnType<typeof createEventListing>;

/** Lists of events: what happens in a window, and what a search finds. */
export function createEventListing(parts: CalendarParts) {
  const { db } = parts;

  return {
    /** Occurrences in a window, by start; cancelled events are left out (configuration document, Calendar event). */
    async inWindow(
      caller: Principal,
      {
        start,
        end,
        calendarIds,
      }: { start: string; end: string; calendarIds?: readonly string[] | undefined },
    ): Promise<ShownEvent[]> {
      const zone = (await zonesOf(db, [caller.userId])).get(caller.userId) ?? "UTC";
      const [from, to] = [toMoment(start, zone), toMoment(end, zone)];
      if (to <= from || to - from > maxDays * day) {
        refuse("end", `must lie after start, at most ${maxDays} days`);
      }
      const rows = await (
        await reachable(parts, caller, calendarIds)
      )
        .where("is_cancelled", "=", false)
        .where("start_at", "<", toNs(to))
        .where((eb) => eb.or([eb("occupied_until", "is", null), eb("occupied_until", ">=", toNs(from))]))
        .orderBy("start_at")
        .limit(maxRows)
        .execute();
      const zones = await zonesOf(
        db,
        rows.map(({ user_id }) => user_id),
      );
      const starts = new Map<string, number[]>();
      let total = 0;
      for (const row of rows) {
        const found = startsOf(row, zoneIn(zones, row), { from, to, max: maxInstances - total });
        total += found.length;
        if (total >= maxInstances) {
          refuse("end", `the window holds more than ${maxInstances} occurrences; ask for less`);
        }
        if (found.length > 0) {
          starts.set(row.id, found);
        }
      }
      const shown = await showEvents(
        parts,
        caller,
        rows.filter(({ id }) => starts.has(id)),
      );
      const instances = shown.flatMap((event) =>
        (starts.get(event.id) ?? []).map((at) => toInstance(event, at)),
      );
      const runs =
        calendarIds === undefined || calendarIds.includes(scheduledTasksId)
          ? await listRuns(parts, caller, { from, to, limit: maxInstances })
          : [];
      return [...instances, ...runs].toSorted((one, other) => Number(one.start_at - other.start_at));
    },

    ...createSearch(parts),
  };
}

function createSearch(parts: CalendarParts) {
  return {
    /** Events whose title, description or place has the words, those to come first. */
    async search(
      caller: Principal,
      query: {
        query: string;
        calendarIds?: readonly string[] | undefined;
        isCancelledToo: boolean;
        limit: number;
      },
    ): Promise<ShownEvent[]> {
      const pattern = `%${query.query.replace(/[\\%_]/g, (character) => `\\${character}`)}%`;
      const rows = await (
        await reachable(parts, caller, query.calendarIds)
      )
        .where((eb) =>
          eb.or([
            eb("title", "ilike", pattern),
            eb("description", "ilike", pattern),
            eb("location", "ilike", pattern),
          ]),
        )
        .$if(!query.isCancelledToo, (rest) => rest.where("is_cancelled", "=", false))
        .orderBy(sql`coalesce(occupied_until, 9223372036854775807) < ${toNs(Date.now())}`)
        .orderBy(sql`abs(start_at - ${toNs(Date.now())})`)
        .limit(query.limit)
        .execute();
      return await showEvents(parts, caller, rows);
    },
  };
}

/** Conditions for the calendars that are asked for; without any also events that the caller is asked to. */
async function reachable({ db }: CalendarParts, caller: Principal, asked: readonly string[] | undefined) {
  const own = (await readableCalendars(db, caller)).map(({ id }) => id);
  const ids = asked === undefined ? own : own.filter((id) => asked.includes(id));
  const rows = eventRows(db).where((eb) =>
    eb.or([
      eb("calendar_event.calendar_id", "=", anyOf(ids)),
      ...(asked === undefined
        ? [
            eb.exists(
              eb
                .selectFrom("calendar_event_attendee")
                .select("calendar_event_attendee.id")
                .whereRef("calendar_event_attendee.event_id", "=", "calendar_event.id")
                .where("calendar_event_attendee.user_id", "=", caller.userId)
                .where("calendar_event_attendee.status", "<>", "declined"),
            ),
          ]
        : []),
    ]),
  );
  return rows;
}

async function listRuns(
  { scheduled }: CalendarParts,
  caller: Principal,
  window: { from: number; to: number; limit: number },
): Promise<(ShownEvent & { instance_id: string })[]> {
  const open = scheduled.list().filter((source) => source.isOpen(caller));
  const entries = (await Promise.all(open.map((source) => source.list(caller, window)))).flat();
  return entries.map(({ id, title, description = null, startAt, meta }) => ({
    id,
    instance_id: id,
    calendar_id: scheduledTasksId,
    user_id: caller.userId,
    title,
    description,
    start_at: toNs(startAt),
    end_at: null,
    all_day: false,
    rrule: null,
    color: null,
    location: null,
    data: {},
    meta,
    is_cancelled: false,
    attendees: [],
    write_access: false,
    timezone: "UTC",
    created_at: Math.floor(startAt / 1000),
    updated_at: Math.floor(startAt / 1000),
  }));
}

/** Epoch milliseconds of ISO 8601; without an offset on the clock of the zone. */
export function toMoment(text: string, zone: string): number {
  if (/(Z|[+-]\d\d:?\d\d)$/i.test(text) && text.includes("T")) {
    return Date.parse(text);
  }
  return Temporal.PlainDateTime.from(text).toZonedDateTime(zone).epochMilliseconds;
}

/** Lists of ids in a query: separated by commas. */
export const toIds = (text: string | undefined): string[] | undefined =>
  text === undefined || text === "" ? undefined : text.split(",").map((id) => id.trim());
