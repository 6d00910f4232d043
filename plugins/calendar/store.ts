import { sql } from "kysely";
import { granted, type GrantPrincipal } from "#storage/grants.ts";
import { anyOf } from "#storage/values.ts";
import { type LoadedEvent, resourceType } from "./parts.ts";
import type { AttendeeRow, CalendarDatabase, CalendarRow } from "./tables.ts";

export async function findCalendar(db: CalendarDatabase, id: string): Promise<CalendarRow | undefined> {
  return await db.selectFrom("calendar").selectAll().where("id", "=", id).executeTakeFirst();
}

export async function findEvent(db: CalendarDatabase, id: string): Promise<LoadedEvent | undefined> {
  return await events(db).where("calendar_event.id", "=", id).executeTakeFirst();
}

/** Events with the owners of their calendars. */
export function events(db: CalendarDatabase) {
  return db
    .selectFrom("calendar_event")
    .innerJoin("calendar", "calendar.id", "calendar_event.calendar_id")
    .selectAll("calendar_event")
    .select("calendar.user_id as calendar_owner");
}

/** Ids of the calendars that are one's own or granted. */
export async function readableCalendars(
  db: CalendarDatabase,
  caller: GrantPrincipal & { userId: string },
): Promise<CalendarRow[]> {
  return await db
    .selectFrom("calendar")
    .selectAll()
    .where((eb) =>
      eb.or([eb("user_id", "=", caller.userId), granted(eb, resourceType, "calendar.id", caller, "read")]),
    )
    .orderBy(sql`user_id <> ${caller.userId}`)
    .orderBy("is_default", "desc")
    .orderBy(sql`lower(name)`)
    .orderBy("id")
    .execute();
}

export async function attendeesOf(
  db: CalendarDatabase,
  eventIds: readonly string[],
): Promise<Map<string, AttendeeRow[]>> {
  const rows =
    eventIds.length === 0
      ? []
      : await db
          .selectFrom("calendar_event_attendee")
          .selectAll()
          .where("event_id", "=", anyOf(eventIds))
          .orderBy("created_at")
          .orderBy("id")
          .execute();
  return Map.groupBy(rows, ({ event_id }) => event_id);
}

export async function isAttendee(db: CalendarDatabase, eventId: string, userId: string): Promise<boolean> {
  const row = await db
    .selectFrom("calendar_event_attendee")
    .select("id")
    .where("event_id", "=", eventId)
    .where("user_id", "=", userId)
    .executeTakeFirst();
  return row !== undefined;
}

/** Time zones of accounts, the server's where an account has none. */
export async function zonesOf(
  db: CalendarDatabase,
  userIds: readonly string[],
): Promise<Map<string, string>> {
  const server = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const rows = await db
    .selectFrom("user")
    .select(["id", "timezone"])
    .where("id", "=", anyOf([...new Set(userIds)]))
    .execute();
  return new Map(rows.map(({ id, timezone }) => [id, timezone ?? server]));
}

/** Which of some calendars still exist. */
export async function existingCalendars(db: CalendarDatabase, ids: readonly string[]): Promise<string[]> {
  const rows = await db.selectFrom("calendar").select("id").where("id", "=", anyOf(ids)).execute();
  return rows.map(({ id }) => id);
}
