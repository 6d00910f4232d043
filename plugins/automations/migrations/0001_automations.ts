import { sql } from "kysely";
import type { Migration } from "kysely/migration";

/** Automations, the runs that have ended, and those under way. */
export const createAutomations: Migration = {
  async up(db) {
    await sql`create table automation (id text primary key, user_id text not null, folder_id text,
      name text not null, data jsonb not null, meta jsonb, is_active boolean not null default true,
      anchor_at bigint not null, time_zone text not null, last_run_at bigint, next_run_at bigint,
      created_at bigint not null, updated_at bigint not null)`.execute(db);
    await sql`create index automation_user_id on automation (user_id, created_at)`.execute(db);
    await sql`create index automation_folder_id on automation (folder_id)`.execute(db);
    await sql`create index automation_due on automation (next_run_at) where is_active`.execute(db);
    await sql`create table automation_run (id text primary key,
      automation_id text not null references automation (id) on delete cascade, slot bigint, chat_id text,
      status text not null, error text, created_at bigint not null, unique (automation_id, slot))`.execute(
      db,
    );
    await sql`create index automation_run_time on automation_run (automation_id, created_at)`.execute(db);
    await sql`create table automation_claim (id text primary key,
      automation_id text not null references automation (id) on delete cascade, slot bigint,
      token bigint not null, owner text not null, beat_at timestamptz not null, created_at bigint not null,
      unique (automation_id, slot))`.execute(db);
    await sql`create index automation_claim_beat_at on automation_claim (beat_at)`.execute(db);
  },
};
