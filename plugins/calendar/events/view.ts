import type { Principal } from "#kernel/access/principal.ts";
import { type CalendarParts, type LoadedEvent, resourceType, toMs, toNs } from "../parts.ts";
import { attendeesOf, zonesOf } from "../store.ts";
import type { EventRow } from "../tables.ts";

/** Turns rows that the caller may read into records: with attendees, zone, and whether the caller may change them. */
export async function showEvents(parts: CalendarParts, caller: Principal, rows: readonly LoadedEvent[]) {
  const ids = rows.map(({ id }) => id);
  const calendars = [...new Set(rows.map(({ calendar_id }) => calendar_id))];
  const [attendees, zones, writable] = await Promise.all([
    attendeesOf(parts.db, ids),
    zonesOf(
      parts.db,
      rows.map(({ user_id }) => user_id),
    ),
    parts.grants.allowed(caller, "write", resourceType, calendars),
  ]);
  const people = await parts.accounts.summaries([...attendees.values()].flat().map(({ user_id }) => user_id));
  return rows.map((row) => ({
    ...toRecord(row),
    timezone: zoneIn(zones, row),
    attendees: (attendees.get(row.id) ?? []).map((attendee) => ({
      ...attendee,
      user: people.get(attendee.user_id) ?? null,
    })),
    write_access: row.calendar_owner === caller.userId || writable.has(row.calendar_id),
  }));
}

export type ShownEvent = Awaited<ReturnType<typeof showEvents>>[number];

/** The zone of a row, out of the zones of those who made rows. */
export function zoneIn(zones: ReadonlyMap<string, string>, row: Pick<EventRow, "data" | "user_id">): string {
  const own = row.data["timezone"];
  return typeof own === "string" ? own : (zones.get(row.user_id) ?? "UTC");
}

/** One occurrence of a record. */
export function toInstance(event: ShownEvent, start: number): ShownEvent & { instance_id: string } {
  const length = event.end_at === null ? null : toMs(event.end_at) - toMs(event.start_at);
  const start_at = toNs(start);
  return {
    ...event,
    start_at,
    end_at: length === null ? null : toNs(start + length),
    instance_id: event.rrule === null ? event.id : `${event.id}_${start_at}`,
  };
}

function toRecord(row: LoadedEvent) {
  const {
    calendar_owner: _owner,
    occupied_until: _until,
    next_alert_start: _next,
    alert_minutes: _minutes,
    ...record
  } = row;
  return {
    ...record,
    start_at: BigInt(row.start_at),
    end_at: row.end_at === null ? null : BigInt(row.end_at),
  };
}
