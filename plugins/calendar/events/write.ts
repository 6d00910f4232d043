import { randomUUID } from "node:crypto";
import { seconds } from "#storage/clock.ts";
import { anyOf, toJson } from "#storage/values.ts";
import { type CalendarParts, refuse } from "../parts.ts";
import { zonesOf } from "../store.ts";
import type { Bag, CalendarDatabase } from "../tables.ts";
import type { AttendeeForm, EventValues } from "./form.ts";
import { toTiming } from "./timing.ts";

/** The zone whose clock an event keeps: its own, else its maker's, else the server's. */
export async function zoneOf(db: CalendarDatabase, event: { user_id: string; data: Bag }): Promise<string> {
  const own = event.data["timezone"];
  return typeof own === "string" ? own : ((await zonesOf(db, [event.user_id])).get(event.user_id) ?? "UTC");
}

/** Where an event stands, and who made it. */
export interface EventPlace {
  readonly id: string;
  readonly calendar_id: string;
  readonly user_id: string;
}

const toColumns = (values: EventValues) => ({
  title: values.title,
  description: values.description,
  start_at: BigInt(values.start_at),
  end_at: values.end_at === null ? null : BigInt(values.end_at),
  all_day: values.all_day,
  color: values.color,
  location: values.location,
  data: toJson(values.data),
  meta: toJson(values.meta),
  is_cancelled: values.is_cancelled,
});

/** Writes a new event. Throws `invalid` for times and rules that are none. */
export async function insertEvent(
  tx: CalendarDatabase,
  place: EventPlace,
  values: EventValues,
): Promise<void> {
  const zone = await zoneOf(tx, { ...place, data: values.data });
  const [timing, now] = [toTiming(values, zone, Date.now()), seconds()];
  await tx
    .insertInto("calendar_event")
    .values({ ...place, ...toColumns(values), ...timing, created_at: now, updated_at: now })
    .execute();
}

/** Writes what an event says now. Throws `invalid` for times and rules that are none. */
export async function updateEvent(
  tx: CalendarDatabase,
  place: EventPlace,
  values: EventValues,
): Promise<void> {
  const zone = await zoneOf(tx, { ...place, data: values.data });
  await tx
    .updateTable("calendar_event")
    .set({
      ...toColumns(values),
      ...toTiming(values, zone, Date.now()),
      calendar_id: place.calendar_id,
      updated_at: seconds(),
    })
    .where("id", "=", place.id)
    .execute();
}

/** Replaces the attendees of an event; who stays keeps the answer, unless the list says another. */
export async function replaceAttendees(
  tx: CalendarDatabase,
  eventId: string,
  wanted: readonly AttendeeForm[],
): Promise<string[]> {
  const ids = wanted.map(({ user_id }) => user_id);
  const before = await tx
    .selectFrom("calendar_event_attendee")
    .select("user_id")
    .where("event_id", "=", eventId)
    .execute();
  await tx
    .deleteFrom("calendar_event_attendee")
    .where("event_id", "=", eventId)
    .where((eb) => eb.not(eb("user_id", "=", anyOf(ids))))
    .execute();
  const now = seconds();
  for (const { user_id, status } of wanted) {
    const fresh = { id: randomUUID(), event_id: eventId, user_id, status: status ?? ("pending" as const) };
    await tx
      .insertInto("calendar_event_attendee")
      .values({ ...fresh, meta: toJson({}), created_at: now, updated_at: now })
      .onConflict((conflict) => {
        const columns = conflict.columns(["event_id", "user_id"]);
        return status === undefined ? columns.doNothing() : columns.doUpdateSet({ status, updated_at: now });
      })
      .execute();
  }
  const asked = new Set(before.map(({ user_id }) => user_id));
  return ids.filter((id) => !asked.has(id));
}

/** Throws `invalid` for attendees that are no accounts or named twice. */
export async function requireAttendees(
  { accounts }: Pick<CalendarParts, "accounts">,
  wanted: readonly AttendeeForm[],
): Promise<void> {
  const ids = wanted.map(({ user_id }) => user_id);
  if (new Set(ids).size < ids.length) {
    refuse("attendees", "names a person twice");
  }
  const known = await accounts.summaries(ids);
  const unknown = ids.find((id) => (known.get(id)?.role ?? "app") === "app");
  if (unknown !== undefined) {
    refuse("attendees", `there is no account ${JSON.stringify(unknown)}`);
  }
}
