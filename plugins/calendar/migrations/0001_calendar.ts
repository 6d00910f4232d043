import { sql } from "kysely";
import type { Migration } from "kysely/migration";

/** Calendars, events and attendees. */
export const createCalendarTables: Migration = {
  async up(db) {
    await sql`create table calendar (
      id text primary key,
      user_id text not null references "user" (id) on delete cascade,
      name text not null,
      color text,
      is_default boolean not null default false,
      data jsonb not null default '{}',
      meta jsonb not null default '{}',
      created_at bigint not null,
      updated_at bigint not null
    )`.execute(db);
    await sql`create unique index calendar_default on calendar (user_id) where is_default`.execute(db);
    await sql`create index calendar_owner on calendar (user_id)`.execute(db);
    await sql`create table calendar_event (
      id text primary key,
      calendar_id text not null references calendar (id) on delete cascade,
      user_id text not null references "user" (id) on delete cascade,
      title text not null,
      description text,
      start_at bigint not null,
      end_at bigint,
      all_day boolean not null default false,
      rrule text,
      color text,
      location text,
      data jsonb not null default '{}',
      meta jsonb not null default '{}',
      is_cancelled boolean not null default false,
      occupied_until bigint,
      next_alert_start bigint,
      alert_minutes integer,
      created_at bigint not null,
      updated_at bigint not null
    )`.execute(db);
    await sql`create index calendar_event_window on calendar_event (calendar_id, start_at)`.execute(db);
    await sql`create index calendar_event_owner on calendar_event (user_id)`.execute(db);
    // Due events are found in these two alone, however many events there are.
    await sql`create index calendar_event_due on calendar_event (next_alert_start)
      where next_alert_start is not null and alert_minutes is null`.execute(db);
    await sql`create index calendar_event_due_own
      on calendar_event ((next_alert_start - alert_minutes * 60000000000))
      where next_alert_start is not null and alert_minutes is not null`.execute(db);
    await sql`create unique index calendar_event_uid on calendar_event (calendar_id, (data ->> 'uid'))
      where data ->> 'uid' is not null`.execute(db);
    await sql`create index calendar_event_series on calendar_event ((data ->> 'series_id'))
      where data ->> 'series_id' is not null`.execute(db);
    await sql`create table calendar_event_attendee (
      id text primary key,
      event_id text not null references calendar_event (id) on delete cascade,
      user_id text not null references "user" (id) on delete cascade,
      status text not null default 'pending' check (status in ('pending', 'accepted', 'declined', 'tentative')),
      meta jsonb not null default '{}',
      created_at bigint not null,
      updated_at bigint not null,
      unique (event_id, user_id)
    )`.execute(db);
    await sql`create index calendar_event_attendee_user on calendar_event_attendee (user_id)`.execute(db);
  },
};
