import { Temporal } from "temporal-polyfill";
import { z } from "zod";
import type { Principal } from "#kernel/access/principal.ts";
import { AppError } from "#kernel/errors.ts";
import { defineTool, type Tool } from "#kernel/tools/tool.ts";
import type { EventActions } from "./events/events.ts";
import { type EventListing, toMoment } from "./events/listing.ts";
import type { ShownEvent } from "./events/view.ts";
import { toMs, toNs } from "./parts.ts";
import { EventChange, NewEvent } from "./schema.ts";
import { zonesOf } from "./store.ts";
import type { CalendarDatabase } from "./tables.ts";

export interface CalendarToolParts {
  readonly db: CalendarDatabase;
  readonly listing: EventListing;
  readonly events: EventActions;
}

/** The category `calendar` of built-in tools (contract §3.6). */
const common = { category: "calendar", permission: "features.calendar" } as const;

const text = (description: string) => ({ type: "string", description });
const time = "ISO 8601, such as 2026-03-01T15:00; without an offset on the person's own clock";
const fields = {
  title: text("What it is called"),
  start: text(`When it begins: ${time}`),
  end: text(`When it ends: ${time}`),
  description: text("What it is about"),
  calendar_id: text("The calendar; the person's own when left out"),
  all_day: { type: "boolean", description: "It takes whole days" },
  location: text("Where it is"),
  rrule: text("How it repeats, as an iCalendar rule such as FREQ=WEEKLY;BYDAY=MO"),
};
const eventId = text("The event's id, as search_calendar_events gives it");

const Moment = z.iso.datetime({ offset: true, local: true }).or(z.iso.date());
const Search = z.object({
  query: z.string().max(200).default(""),
  start: Moment.optional(),
  end: Moment.optional(),
  limit: z.int().min(1).max(200).default(50),
});
const Written = z.object({ start: Moment.optional(), end: Moment.optional() });
const Named = z.object({ event_id: z.string() });
const month = 31 * 86_400_000;

/** Tools with which models look into and change the calendars of the person, with the person's own rights. */
export function createCalendarTools({ db, listing, events }: CalendarToolParts): readonly Tool[] {
  const zoneOf = async ({ userId }: Principal) => (await zonesOf(db, [userId])).get(userId) ?? "UTC";
  return [
    searchTool(listing, zoneOf),
    defineTool({
      ...common,
      id: "calendar.create_calendar_event",
      isActing: true,
      title: "Add to the calendar",
      spec: {
        name: "create_calendar_event",
        description: "Puts an event into a calendar of the person.",
        parameters: { type: "object", properties: fields, required: ["title", "start"] },
      },
      async run(parameters, { principal }) {
        const zone = await zoneOf(principal);
        return show(await events.create(principal, readAs(NewEvent, toForm(parameters, zone))), zone);
      },
    }),
    defineTool({
      ...common,
      id: "calendar.update_calendar_event",
      isActing: true,
      title: "Change the calendar",
      spec: {
        name: "update_calendar_event",
        description: "Changes an event, all of a series; what is left out stays.",
        parameters: {
          type: "object",
          properties: { event_id: eventId, ...fields, is_cancelled: { type: "boolean" } },
          required: ["event_id"],
        },
      },
      async run(parameters, { principal }) {
        const { event_id: id } = readAs(Named, parameters);
        const zone = await zoneOf(principal);
        const { scope, instance_start: _start, ...form } = readAs(EventChange, toForm(parameters, zone));
        return show(await events.update(principal, id, { form, part: { scope } }), zone);
      },
    }),
    defineTool({
      ...common,
      id: "calendar.delete_calendar_event",
      isActing: true,
      title: "Remove from the calendar",
      spec: {
        name: "delete_calendar_event",
        description: "Deletes an event, all of a series.",
        parameters: { type: "object", properties: { event_id: eventId }, required: ["event_id"] },
      },
      async run(parameters, { principal }) {
        const { event_id: id } = readAs(Named, parameters);
        await events.remove(principal, id, { scope: "all" });
        return { deleted: id };
      },
    }),
  ];
}

function searchTool(listing: EventListing, zoneOf: (principal: Principal) => Promise<string>): Tool {
  return defineTool({
    ...common,
    isParallel: true,
    id: "calendar.search_calendar_events",
    title: "Look into the calendar",
    spec: {
      name: "search_calendar_events",
      description:
        "Finds events of the person by words, or lists what happens from start to end; the next month without either.",
      parameters: {
        type: "object",
        properties: {
          query: text("Words of the title, description or place"),
          start: text(`From when: ${time}`),
          end: text(`Until when: ${time}`),
          limit: { type: "integer", minimum: 1, maximum: 200, default: 50 },
        },
      },
    },
    async run(parameters, { principal }) {
      const { query, start, end, limit } = readAs(Search, parameters);
      const zone = await zoneOf(principal);
      if (query !== "" && start === undefined && end === undefined) {
        const found = await listing.search(principal, { query, isCancelledToo: false, limit });
        return found.map((event) => show(event, zone));
      }
      const from = start === undefined ? Date.now() : toMoment(start, zone);
      const window = {
        start: new Date(from).toISOString(),
        end: end ?? new Date(from + month).toISOString(),
      };
      const words = query.toLowerCase();
      const isMeant = (event: ShownEvent) =>
        [event.title, event.description, event.location].join(" ").toLowerCase().includes(words);
      const found = (await listing.inWindow(principal, window)).filter(isMeant);
      return found.slice(0, limit).map((event) => show(event, zone));
    },
  });
}

/** The form of the routes, whose times are epoch nanoseconds. */
function toForm(parameters: Record<string, unknown>, zone: string): Record<string, unknown> {
  const { start, end } = readAs(Written, parameters);
  const { start: _start, end: _end, event_id: _id, ...rest } = parameters;
  return {
    ...rest,
    ...(start !== undefined && { start_at: Number(toNs(toMoment(start, zone))) }),
    ...(end !== undefined && { end_at: Number(toNs(toMoment(end, zone))) }),
  };
}

/** An event as models see it, its times on the person's own clock. */
function show(event: ShownEvent, zone: string) {
  const toText = (at: number | bigint) =>
    Temporal.Instant.fromEpochMilliseconds(toMs(at))
      .toZonedDateTimeISO(zone)
      .toString({ smallestUnit: "minute", timeZoneName: "never" });
  const { id, calendar_id, title, description, location, rrule, all_day, is_cancelled } = event;
  return {
    event_id: id,
    calendar_id,
    title,
    start: toText(event.start_at),
    ...(event.end_at !== null && { end: toText(event.end_at) }),
    all_day,
    ...(description && { description }),
    ...(location && { location }),
    ...(rrule && { rrule }),
    ...(is_cancelled && { is_cancelled }),
  };
}

/** Parameters of a call. Throws `invalid` naming the field. */
function readAs<T>(shape: z.ZodType<T>, value: unknown): T {
  const read = shape.safeParse(value);
  if (!read.success) {
    const [issue] = read.error.issues;
    throw new AppError("invalid", `${issue?.path.join(".") ?? ""}: ${issue?.message ?? "is wrong"}`);
  }
  return read.data;
}
