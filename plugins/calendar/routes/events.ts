import { z } from "zod";
import { defineRoute } from "#kernel/http/route.ts";
import type { EventActions } from "../events/events.ts";
import { type EventListing, toIds } from "../events/listing.ts";
import {
  ById,
  CalendarEvent,
  DeleteQuery,
  EventChange,
  EventsQuery,
  NewEvent,
  Rsvp,
  SearchQuery,
} from "../schema.ts";
import { access } from "./calendars.ts";

/** Lists of events (contract §9). */
export function listingRoutes(listing: EventListing) {
  return [
    defineRoute(
      {
        method: "GET",
        path: "/calendars/events",
        summary:
          "List what happens in a window, each occurrence of a series by itself; cancelled events are left out",
        access,
        query: EventsQuery,
        returns: z.array(CalendarEvent),
        fails: [400],
      },
      ({ caller, query }) =>
        listing.inWindow(caller, {
          start: query.start,
          end: query.end,
          calendarIds: toIds(query.calendar_ids),
        }),
    ),
    defineRoute(
      {
        method: "GET",
        path: "/calendars/events/search",
        summary: "Find events by words of title, description or place",
        access,
        query: SearchQuery,
        returns: z.array(CalendarEvent),
      },
      ({ caller, query }) =>
        listing.search(caller, {
          query: query.query,
          calendarIds: toIds(query.calendar_ids),
          isCancelledToo: query.include_cancelled,
          limit: query.limit,
        }),
    ),
  ] as const;
}

/** Single events (contract §9). */
export function eventRoutes(events: EventActions) {
  return [
    defineRoute(
      {
        method: "POST",
        path: "/calendars/events/create",
        summary: "Make an event; without a calendar in the default one. Times are epoch nanoseconds",
        access,
        body: NewEvent,
        returns: CalendarEvent,
        fails: [400, 403, 404],
        idempotent: true,
      },
      ({ caller, body }) => events.create(caller, body),
    ),
    defineRoute(
      {
        method: "GET",
        path: "/calendars/events/:id",
        summary: "Read an event",
        access,
        params: ById,
        returns: CalendarEvent,
        fails: [404],
      },
      ({ caller, params }) => events.get(caller, params.id),
    ),
    defineRoute(
      {
        method: "POST",
        path: "/calendars/events/:id/update",
        summary: "Change an event, one occurrence (scope this) or that and what follows (scope following)",
        access,
        params: ById,
        body: EventChange,
        returns: CalendarEvent,
        fails: [400, 403, 404],
      },
      ({ caller, params, body: { scope, instance_start, ...form } }) =>
        events.update(caller, params.id, { form, part: { scope, instance_start } }),
    ),
    defineRoute(
      {
        method: "DELETE",
        path: "/calendars/events/:id/delete",
        summary: "Delete an event with its attendees, one occurrence, or that and what follows",
        access,
        params: ById,
        query: DeleteQuery,
        returns: z.literal(true),
        fails: [400, 403, 404],
      },
      async ({ caller, params, query }) => {
        await events.remove(caller, params.id, query);
        return true;
      },
    ),
    defineRoute(
      {
        method: "POST",
        path: "/calendars/events/:id/rsvp",
        summary: "Answer an invitation: pending, accepted, declined or tentative",
        access,
        params: ById,
        body: Rsvp,
        returns: CalendarEvent,
        fails: [403, 404],
      },
      ({ caller, params, body }) => events.answer(caller, params.id, body.status),
    ),
  ] as const;
}
