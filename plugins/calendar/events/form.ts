import type { GrantInput } from "#storage/grants.ts";
import { refuse } from "../parts.ts";
import type { AttendeeStatus, Bag, EventRow } from "../tables.ts";

/** What a form says of an event; what is undefined stays as it is, null takes away. */
export interface EventForm {
  readonly calendar_id?: string | null | undefined;
  readonly title?: string | undefined;
  readonly description?: string | null | undefined;
  readonly start_at?: bigint | undefined;
  readonly end_at?: bigint | null | undefined;
  readonly all_day?: boolean | undefined;
  readonly rrule?: string | null | undefined;
  readonly color?: string | null | undefined;
  readonly location?: string | null | undefined;
  readonly data?: Bag | null | undefined;
  readonly meta?: Bag | null | undefined;
  readonly is_cancelled?: boolean | undefined;
  readonly attendees?: readonly AttendeeForm[] | null | undefined;
}

export interface AttendeeForm {
  readonly user_id: string;
  readonly status?: AttendeeStatus | undefined;
}

export interface CalendarForm {
  readonly name?: string | undefined;
  readonly color?: string | null | undefined;
  readonly data?: Bag | null | undefined;
  readonly meta?: Bag | null | undefined;
  readonly access_grants?: readonly GrantInput[] | null | undefined;
}

/** The fields of an event that people write. */
export type EventValues = Pick<
  EventRow,
  | "title"
  | "description"
  | "start_at"
  | "end_at"
  | "all_day"
  | "rrule"
  | "color"
  | "location"
  | "data"
  | "meta"
  | "is_cancelled"
>;

/** Kept by the platform: clients send a whole record back, and these may be old in it. */
const ownData = ["exdates", "series_id", "recurrence_id", "uid"];
const ownMeta = ["alerted_at", "alerted_start"];

/** The values after a change. Throws `invalid` for a zone in `data.timezone` that is none. */
export function mergeValues(form: EventForm, before: EventValues): EventValues {
  const pick = <T>(sent: T | undefined, held: T): T => (sent === undefined ? held : sent);
  const data = mergeBag(before.data, form.data, ownData);
  if (data["timezone"] !== undefined && !isTimeZone(data["timezone"])) {
    refuse("data.timezone", "is no IANA time zone such as Europe/Berlin");
  }
  return {
    title: form.title ?? before.title,
    description: pick(form.description, before.description),
    start_at: form.start_at ?? before.start_at,
    end_at: toEnd(form, before),
    all_day: form.all_day ?? before.all_day,
    rrule: pick(form.rrule === "" ? null : form.rrule, before.rrule),
    color: pick(form.color, before.color),
    location: pick(form.location, before.location),
    data,
    meta: mergeBag(before.meta, form.meta, ownMeta),
    is_cancelled: form.is_cancelled ?? before.is_cancelled,
  };
}

/** An event that is moved without a word about its end keeps its length. */
function toEnd(form: EventForm, before: EventValues): bigint | number | null {
  if (form.end_at !== undefined) {
    return form.end_at;
  }
  return before.end_at === null || form.start_at === undefined
    ? before.end_at
    : BigInt(before.end_at) + form.start_at - BigInt(before.start_at);
}

/** Lays what was sent over what is held; null takes a key away, the platform's own keys stay. */
export function mergeBag(held: Bag, sent: Bag | null | undefined, own: readonly string[] = []): Bag {
  const wanted = Object.entries(sent ?? {}).filter(([key]) => !own.includes(key));
  const merged = { ...held, ...Object.fromEntries(wanted) };
  if (JSON.stringify(merged).length > 100_000) {
    refuse("data", "data and meta hold at most 100,000 characters each");
  }
  return Object.fromEntries(
    Object.entries(merged).filter(([, value]) => value !== null && value !== undefined),
  );
}

/** True when a value names a time zone that this server knows. */
export function isTimeZone(value: unknown): value is string {
  if (typeof value !== "string" || value === "" || value.length > 100) {
    return false;
  }
  try {
    return new Intl.DateTimeFormat("en-US", { timeZone: value }).resolvedOptions().timeZone !== "";
  } catch {
    return false;
  }
}
