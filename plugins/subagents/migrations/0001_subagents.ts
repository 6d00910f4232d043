import { sql } from "kysely";
import type { Migration } from "kysely/migration";

/** Tasks that models gave to sub-agents. */
export const createSubagents: Migration = {
  async up(db) {
    await sql`create table subagent (
      id text primary key,
      user_id text not null references "user" (id) on delete cascade,
      chat_id text not null,
      message_id text,
      call_id text,
      mode text not null,
      task text not null,
      state text not null,
      error text,
      request jsonb not null,
      owner text not null,
      beat_at timestamptz not null,
      report_at timestamptz,
      report_token bigint not null default 0,
      report_owner text,
      created_at bigint not null,
      ended_at bigint
    )`.execute(db);
    await sql`create index subagent_chat on subagent (chat_id, created_at)`.execute(db);
    await sql`create index subagent_user on subagent (user_id)`.execute(db);
    await sql`create index subagent_running on subagent (beat_at) where state = 'running'`.execute(db);
    await sql`create index subagent_report on subagent (report_at) where report_at is not null`.execute(db);
    // Two results told to one chat at once would be two branches of it.
    await sql`create unique index subagent_reporting on subagent (chat_id) where report_owner is not null`.execute(
      db,
    );
  },
};
