import type { ColumnType, Selectable } from "kysely";
import type { PluginDatabase } from "#kernel/plugin.ts";

type Json<T> = ColumnType<T, T, T>;
export type Bag = Record<string, unknown>;
/** A time in epoch nanoseconds, whole milliseconds; it reads as a number where that is exact. */
type Nanoseconds = ColumnType<number | bigint, bigint, bigint>;
type NullableNanoseconds = ColumnType<number | bigint | null, bigint | null, bigint | null>;

/** A calendar (configuration document, Calendar). */
export interface CalendarTable {
  id: string;
  user_id: string;
  name: string;
  /** `#rrggbb`. */
  color: string | null;
  /** One calendar of each account is. */
  is_default: boolean;
  data: Json<Bag>;
  meta: Json<Bag>;
  created_at: number;
  updated_at: number;
}

/** An event or a series of them (configuration document, Calendar event). */
export interface CalendarEventTable {
  id: string;
  calendar_id: string;
  user_id: string;
  title: string;
  description: string | null;
  start_at: Nanoseconds;
  end_at: NullableNanoseconds;
  all_day: boolean;
  rrule: string | null;
  color: string | null;
  location: string | null;
  /** `timezone`, `exdates`, `series_id`, `recurrence_id`, `uid` and keys of clients. */
  data: Json<Bag>;
  /** `automation_id`, `alert_minutes`, `alerted_at` and keys of clients. */
  meta: Json<Bag>;
  is_cancelled: boolean;
  /** The end of its last occurrence; null for a series without an end. Never on the wire. */
  occupied_until: NullableNanoseconds;
  /** The next start that people are reminded of; null when there is none. Never on the wire. */
  next_alert_start: NullableNanoseconds;
  /** `meta.alert_minutes`, checked; null for the platform's. Never on the wire. */
  alert_minutes: number | null;
  created_at: number;
  updated_at: number;
}

/** A person who is asked to an event (configuration document, Calendar event attendee). */
export interface CalendarEventAttendeeTable {
  id: string;
  event_id: string;
  user_id: string;
  status: AttendeeStatus;
  meta: Json<Bag>;
  created_at: number;
  updated_at: number;
}

export type AttendeeStatus = "pending" | "accepted" | "declined" | "tentative";

/** A subscription link of one account to a calendar. */
export interface CalendarLinkTable {
  id: string;
  calendar_id: string;
  /** Whose rights it has. */
  user_id: string;
  /** SHA-256 of the secret, in hexadecimal digits. */
  token_hash: string;
  created_at: number;
  last_used_at: number | null;
}

export interface CalendarTables {
  calendar_link: CalendarLinkTable;
  calendar: CalendarTable;
  calendar_event: CalendarEventTable;
  calendar_event_attendee: CalendarEventAttendeeTable;
}

export type CalendarRow = Selectable<CalendarTable>;
export type EventRow = Selectable<CalendarEventTable>;
export type AttendeeRow = Selectable<CalendarEventAttendeeTable>;

/** The plugin's database handle, or a transaction on it. */
export type CalendarDatabase = PluginDatabase<CalendarTables>;
