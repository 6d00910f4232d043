import type { ExplainedResource } from "#plugins/accounts/service.ts";
import { type CalendarParts, resourceType } from "./parts.ts";
import { findCalendar } from "./store.ts";

/** Tells administrators why somebody can see a calendar; its name stays with those who may read it. */
export function explainCalendars({ db, calendars }: CalendarParts): ExplainedResource {
  return {
    kind: "calendar",
    grantType: resourceType,
    async find(asker, id) {
      const row = await findCalendar(db, id);
      const isSeen = row !== undefined && (await calendars.find(asker, id, "read")) !== undefined;
      return row && { id, name: isSeen ? row.name : id, ownerId: row.user_id };
    },
    may: async (principal, id, permission) => (await calendars.find(principal, id, permission)) !== undefined,
    others: async () => [],
  };
}
