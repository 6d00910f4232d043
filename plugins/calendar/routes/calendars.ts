import { z } from "zod";
import { defineRoute } from "#kernel/http/route.ts";
import type { CalendarActions } from "../calendars.ts";
import { ById, Calendar, CalendarChange, NewCalendar } from "../schema.ts";

export const access = "permission:features.calendar";

/** Calendars as a whole (contract §9). */
export function calendarRoutes(calendars: CalendarActions) {
  return [
    defineRoute(
      {
        method: "GET",
        path: "/calendars/",
        summary: "List one's calendars and those that are shared; Personal is made at first sight",
        access,
        returns: z.array(Calendar),
      },
      ({ caller }) => calendars.list(caller),
    ),
    defineRoute(
      {
        method: "POST",
        path: "/calendars/create",
        summary: "Make a calendar",
        access,
        body: NewCalendar,
        returns: Calendar,
        idempotent: true,
      },
      ({ caller, body }) => calendars.create(caller, body),
    ),
    defineRoute(
      {
        method: "GET",
        path: "/calendars/:id",
        summary: "Read a calendar",
        access,
        params: ById,
        returns: Calendar,
        fails: [404],
      },
      ({ caller, params }) => calendars.get(caller, params.id),
    ),
    defineRoute(
      {
        method: "POST",
        path: "/calendars/:id/update",
        summary: "Change a calendar; who shares it is said by its owner alone",
        access,
        params: ById,
        body: CalendarChange,
        returns: Calendar,
        fails: [400, 403, 404],
      },
      ({ caller, params, body }) => calendars.update(caller, params.id, body),
    ),
    defineRoute(
      {
        method: "POST",
        path: "/calendars/:id/default",
        summary: "Make a calendar the one that new events go to",
        access,
        params: ById,
        returns: Calendar,
        fails: [400, 403, 404],
      },
      ({ caller, params }) => calendars.makeDefault(caller, params.id),
    ),
    defineRoute(
      {
        method: "DELETE",
        path: "/calendars/:id/delete",
        summary: "Delete a calendar with its events, attendees and grants; not the default one",
        access,
        params: ById,
        returns: z.literal(true),
        fails: [400, 403, 404],
      },
      async ({ caller, params }) => {
        await calendars.remove(caller, params.id);
        return true;
      },
    ),
  ] as const;
}
