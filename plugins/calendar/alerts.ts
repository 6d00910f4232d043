import { sql } from "kysely";
import { hasPermission } from "#kernel/access/permissions.ts";
import { isMember, type Principal } from "#kernel/access/principal.ts";
import { toEnvelope } from "#kernel/sockets/envelope.ts";
import { toRoom } from "#kernel/sockets/rooms.ts";
import { toJson } from "#storage/values.ts";
import { findAlertStart } from "./events/timing.ts";
import { zoneIn } from "./events/view.ts";
import { type CalendarParts, toMs, toNs } from "./parts.ts";
import { attendeesOf, zonesOf } from "./store.ts";
import type { CalendarDatabase, EventRow } from "./tables.ts";

/** Events that one look takes on at a time; the next look of the same job goes on. */
const batch = 500;
/** A start that is missed by more than this, because nothing ran, is passed over in silence. */
const graceMs = 300_000;
const perMinute = 60_000_000_000n;

/** The reminder of one start (event `calendar:alert`, contract 3.4). */
export interface Alert {
  readonly event_id: string;
  readonly calendar_id: string;
  readonly title: string;
  readonly location: string | null;
  /** Epoch nanoseconds. */
  readonly start_at: bigint;
  /** Until the start, rounded; 0 when it is now. */
  readonly minutes: number;
}

export interface AlertParts extends CalendarParts {
  /** CALENDAR_ALERT_LOOKAHEAD_MINUTES. */
  lookahead(): number;
}

export type Alerts = ReturnType<typeof createAlerts>;

/**
 * Reminds people of events, once for each start. A start is claimed in the transaction that notes it
 * (`meta.alerted_at`), under row locks that other replicas skip, and told after the commit: never twice, also when
 * a process dies in between.
 */
export function createAlerts(parts: AlertParts) {
  return {
    /** Tells everybody of what is due now. */
    async sendDue(signal?: AbortSignal, now = Date.now()): Promise<number> {
      const people = new Map<string, Promise<Principal | undefined>>();
      let sent = 0;
      for (;;) {
        const due = await claim(parts, now);
        const told = due.filter(({ next_alert_start }) => toMs(next_alert_start ?? 0) >= now - graceMs);
        await tell(parts, told, { now, people });
        sent += told.length;
        if (due.length < batch || signal?.aborted) {
          return sent;
        }
      }
    },
  };
}

/** Claims what is due and moves each event on to its next start. */
async function claim(parts: AlertParts, now: number): Promise<EventRow[]> {
  return await parts.transaction(async (tx) => {
    const due = await findDue(tx, now, parts.lookahead());
    const zones = await zonesOf(
      tx,
      due.map(({ user_id }) => user_id),
    );
    const changes = due.map((row) => {
      const start = toMs(row.next_alert_start ?? 0);
      const meta = { ...row.meta, alerted_at: Math.floor(now / 1000), alerted_start: start };
      const next =
        row.rrule === null
          ? null
          : findAlertStart({ ...row, meta }, zoneIn(zones, row), Math.max(start, now));
      return { id: row.id, meta, next: next === null ? null : String(next) };
    });
    if (changes.length > 0) {
      await sql`update calendar_event set meta = change.meta, next_alert_start = change.next::bigint
        from jsonb_to_recordset(${toJson(changes)}) as change (id text, meta jsonb, next text)
        where calendar_event.id = change.id`.execute(tx);
    }
    return due;
  });
}

async function tell(
  parts: AlertParts,
  rows: readonly EventRow[],
  { now, people }: { now: number; people: Map<string, Promise<Principal | undefined>> },
): Promise<void> {
  const attendees = await attendeesOf(
    parts.db,
    rows.map(({ id }) => id),
  );
  const find = (id: string) => {
    const known = people.get(id) ?? parts.accounts.principalOf(id);
    people.set(id, known);
    return known;
  };
  for (const row of rows) {
    const asked = (attendees.get(row.id) ?? []).filter(({ status }) => status !== "declined");
    for (const id of new Set([row.user_id, ...asked.map(({ user_id }) => user_id)])) {
      const person = await find(id);
      if (person !== undefined && isMember(person) && hasPermission(person, "features.calendar")) {
        await alert(parts, { person, row, now });
      }
    }
  }
}

async function alert(
  parts: AlertParts,
  { person, row, now }: { person: Principal; row: EventRow; now: number },
): Promise<void> {
  // The maker of an event in a calendar of others may have lost that calendar meanwhile.
  if ((await parts.calendarEvents.find(person, row.id, "read")) === undefined) {
    return;
  }
  const start = row.next_alert_start ?? row.start_at;
  const { id: event_id, calendar_id, title, location } = row;
  const minutes = Math.max(0, Math.round((toMs(start) - now) / 60_000));
  const data: Alert = { event_id, calendar_id, title, location, start_at: BigInt(start), minutes };
  parts.hub.emit(toRoom("user", person.userId), "events", toEnvelope({ type: "calendar:alert", data }));
  parts.events.announce("calendar.alert", {
    actor: null,
    subject: { type: "calendar_event", id: event_id },
    data: { ...data, start_at: Number(data.start_at), user_id: person.userId },
  });
}

/** Events whose next start is near, locked; those that another replica holds are left to it. */
export async function findDue(tx: CalendarDatabase, now: number, lookahead: number): Promise<EventRow[]> {
  const at = toNs(now);
  const rows = (limit: number) =>
    tx
      .selectFrom("calendar_event")
      .selectAll()
      .where("next_alert_start", "is not", null)
      .limit(limit)
      .forUpdate()
      .skipLocked();
  const usual = await rows(batch)
    .where("alert_minutes", "is", null)
    .where("next_alert_start", "<=", at + BigInt(lookahead) * perMinute)
    .orderBy("next_alert_start")
    .execute();
  const ownTime = sql<bigint>`next_alert_start - alert_minutes * 60000000000`;
  const own = await rows(batch - usual.length)
    .where("alert_minutes", "is not", null)
    .where(ownTime, "<=", at)
    .orderBy(ownTime)
    .execute();
  return [...usual, ...own];
}
