import { sql } from "kysely";
import type { Migration } from "kysely/migration";

/** Subscription links: one of each account to a calendar. */
export const createCalendarLinks: Migration = {
  async up(db) {
    await sql`create table calendar_link (
      id text primary key,
      calendar_id text not null references calendar (id) on delete cascade,
      user_id text not null references "user" (id) on delete cascade,
      token_hash text not null,
      created_at bigint not null,
      last_used_at bigint,
      unique (calendar_id, user_id)
    )`.execute(db);
    await sql`create index calendar_link_user on calendar_link (user_id)`.execute(db);
  },
};
