import type { Loader } from "#kernel/access/resource.ts";
import type { Principal } from "#kernel/access/principal.ts";
import { AppError } from "#kernel/errors.ts";
import type { Events } from "#kernel/events.ts";
import type { Slot } from "#kernel/service.ts";
import type { Hub } from "#kernel/sockets/hub.ts";
import type { Grants } from "#storage/grants.ts";
import type { Accounts } from "#plugins/accounts/service.ts";
import type { ScheduledRuns } from "./service.ts";
import type { CalendarDatabase, CalendarRow, EventRow } from "./tables.ts";

/** The kind of row that grants name. */
export const resourceType = "calendar";

/** An event with the owner of its calendar. */
export interface LoadedEvent extends EventRow {
  readonly calendar_owner: string;
}

/** The parts that the logic of calendars needs. */
export interface CalendarParts {
  readonly db: CalendarDatabase;
  transaction<R>(run: (tx: CalendarDatabase) => Promise<R>): Promise<R>;
  readonly accounts: Accounts;
  readonly events: Events;
  readonly grants: Grants;
  readonly hub: Hub;
  /** The one way from an id to a calendar. */
  readonly calendars: Loader<CalendarRow>;
  /** The one way from an id to an event: through its calendar, and for attendees to read. */
  readonly calendarEvents: Loader<LoadedEvent>;
  readonly scheduled: Slot<ScheduledRuns>;
}

/** System events of calendars (appendix A10). */
export type CalendarSystemEvent =
  `calendar.${"created" | "updated" | "deleted" | "default_updated" | `event.${"created" | "updated" | "deleted" | "rsvp_updated"}`}`;

/** Tells the process what became of a calendar or an event. */
export function announce(
  events: Events,
  event: CalendarSystemEvent,
  { by, id, data }: { by: Principal; id: string; data?: Record<string, unknown> },
): void {
  events.announce(event, {
    actor: { id: by.userId, name: by.name, email: by.email, role: by.role },
    subject: { type: event.startsWith("calendar.event.") ? "calendar_event" : resourceType, id },
    data: data ?? null,
  });
}

const perMillisecond = 1_000_000n;

/** Epoch nanoseconds of the wire and the tables as epoch milliseconds. */
export const toMs = (nanoseconds: number | bigint): number => Number(BigInt(nanoseconds) / perMillisecond);
/** Epoch milliseconds as nanoseconds. */
export const toNs = (milliseconds: number): bigint => BigInt(Math.round(milliseconds)) * perMillisecond;

/** Refuses a value of a form and names its field. */
export function refuse(field: string, problem: string): never {
  throw new AppError("invalid", `${field}: ${problem}.`);
}
