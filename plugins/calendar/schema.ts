import { z } from "zod";
import { GrantInputs } from "#kernel/access/grant-inputs.ts";

const Bag = z.looseObject({});
const Id = z.string().min(1).max(200);
const earliest = Date.UTC(1900, 0, 1) * 1e6;
const latest = Date.UTC(2201, 0, 1) * 1e6;

/** Epoch nanoseconds as sent: a whole number, kept to the millisecond, in the years 1900 to 2200. */
const SentTime = z
  .number()
  .refine((value) => Number.isInteger(value) && value >= earliest && value < latest, {
    message: "must be epoch nanoseconds in the years 1900 to 2200",
  })
  .transform((value) => BigInt(Math.round(value / 1e6)) * 1_000_000n);
/** Epoch nanoseconds as answered. */
const Time = z.union([z.bigint(), z.number()]);
const Color = z
  .string()
  .regex(/^#[0-9a-f]{6}$/i, "must be a colour such as #1a73e8")
  .nullish();
const Status = z.enum(["pending", "accepted", "declined", "tentative"]);

export const ById = z.object({ id: z.string().max(200) });

const Name = z.string().trim().min(1).max(200);
const calendarFields = {
  color: Color,
  data: Bag.nullish(),
  meta: Bag.nullish(),
  access_grants: GrantInputs.nullish(),
};
export const NewCalendar = z.object({ name: Name, ...calendarFields }).meta({ id: "NewCalendar" });
export const CalendarChange = z
  .object({ name: Name.optional(), ...calendarFields })
  .meta({ id: "CalendarChange" });

const Person = z.object({ id: z.string(), name: z.string(), email: z.string(), role: z.string() }).nullable();

export const Calendar = z
  .object({
    id: z.string(),
    user_id: z.string(),
    name: z.string(),
    color: z.string().nullable(),
    is_default: z.boolean(),
    /** True for the calendar Scheduled Tasks, which is not stored. */
    is_system: z.boolean(),
    data: Bag,
    meta: Bag,
    write_access: z.boolean(),
    user: Person,
    access_grants: z.array(z.looseObject({ id: z.number(), principal_id: z.string() })).optional(),
    created_at: z.number(),
    updated_at: z.number(),
  })
  .meta({ id: "Calendar" });

const Attendees = z.array(z.object({ user_id: Id, status: Status.optional() })).max(500);
/** What of a series a change is for: all of it, one occurrence, or that and what follows. */
const Scope = z.enum(["all", "this", "following"]).default("all");
const eventFields = {
  description: z.string().max(20_000).nullish(),
  end_at: SentTime.nullish(),
  rrule: z.string().max(100_000).nullish(),
  color: Color,
  location: z.string().max(2_000).nullish(),
  data: Bag.nullish(),
  meta: Bag.nullish(),
  attendees: Attendees.nullish(),
};
const Title = z.string().trim().min(1).max(500);
export const NewEvent = z
  .object({
    ...eventFields,
    calendar_id: Id.nullish(),
    title: Title,
    start_at: SentTime,
    all_day: z.boolean().default(false),
  })
  .meta({ id: "NewCalendarEvent" });
export const EventChange = z
  .object({
    ...eventFields,
    calendar_id: Id.optional(),
    title: Title.optional(),
    start_at: SentTime.optional(),
    all_day: z.boolean().optional(),
    is_cancelled: z.boolean().optional(),
    scope: Scope,
    /** The start of the occurrence that `this` and `following` speak of. */
    instance_start: SentTime.optional(),
  })
  .meta({ id: "CalendarEventChange" });
export const Rsvp = z.object({ status: Status });
export const DeleteQuery = z.object({
  scope: Scope,
  instance_start: z.coerce.number().pipe(SentTime).optional(),
});

const Moment = z.iso.datetime({ offset: true, local: true }).or(z.iso.date());
export const EventsQuery = z.object({
  start: Moment,
  end: Moment,
  calendar_ids: z.string().max(20_000).optional(),
});
export const SearchQuery = z.object({
  query: z.string().trim().max(200).default(""),
  calendar_ids: z.string().max(20_000).optional(),
  include_cancelled: z
    .stringbool({ truthy: ["true", "1"], falsy: ["false", "0"] })
    .default(false)
    .meta({ type: "boolean", default: false }),
  limit: z.coerce.number().int().min(1).max(200).default(50),
});

const Attendee = z.object({
  id: z.string(),
  event_id: z.string(),
  user_id: z.string(),
  status: Status,
  meta: Bag,
  user: Person,
  created_at: z.number(),
  updated_at: z.number(),
});
export const CalendarEvent = z
  .object({
    id: z.string(),
    calendar_id: z.string(),
    user_id: z.string(),
    title: z.string(),
    description: z.string().nullable(),
    start_at: Time,
    end_at: Time.nullable(),
    all_day: z.boolean(),
    rrule: z.string().nullable(),
    color: z.string().nullable(),
    location: z.string().nullable(),
    data: Bag,
    meta: Bag,
    is_cancelled: z.boolean(),
    created_at: z.number(),
    updated_at: z.number(),
    /** The zone whose clock the event keeps. */
    timezone: z.string(),
    attendees: z.array(Attendee),
    write_access: z.boolean(),
    /** `<id>_<start>` of an occurrence in a list; the id of what does not recur. */
    instance_id: z.string().optional(),
  })
  .meta({ id: "CalendarEvent" });
