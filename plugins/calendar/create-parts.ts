import type { Access } from "#kernel/access/resource.ts";
import { type CalendarParts, type LoadedEvent, resourceType } from "./parts.ts";
import { findCalendar, findEvent, isAttendee } from "./store.ts";
import type { CalendarRow } from "./tables.ts";

interface Given extends Pick<CalendarParts, "db" | "transaction"> {
  readonly use: Pick<CalendarParts, "accounts" | "events" | "grants" | "hub" | "scheduled"> & {
    readonly access: Access;
  };
}

/** Ties the plugin's services to its loaders. Calendars are private: administrators need a grant as everybody does. */
export function createParts({ use, db, transaction }: Given): CalendarParts {
  const { access } = use;
  const { accounts, events, grants, hub, scheduled } = use;
  const services = { accounts, events, grants, hub, scheduled };
  return {
    ...services,
    db,
    transaction,
    calendars: access.loader<CalendarRow>({
      type: resourceType,
      find: (id) => findCalendar(db, id),
      ownerOf: (row) => row.user_id,
      adminPasses: false,
    }),
    calendarEvents: access.loader<LoadedEvent>({
      type: "calendar_event",
      find: (id) => findEvent(db, id),
      ownerOf: (row) => row.calendar_owner,
      adminPasses: false,
      reachable: async (principal, row, action) =>
        (await services.grants.allowed(principal, action, resourceType, [row.calendar_id])).has(
          row.calendar_id,
        ) ||
        (action === "read" && (await isAttendee(db, row.id, principal.userId))),
    }),
  };
}
