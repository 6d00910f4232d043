import { sql } from "kysely";
import type { Migration } from "kysely/migration";

/** Timers that models have set; they go with their chat and their account. */
export const createTimers: Migration = {
  async up(db) {
    await sql`create table timer (
      id text primary key,
      user_id text not null references "user" (id) on delete cascade,
      chat_id text not null references chat (id) on delete cascade,
      message_id text,
      question_id text,
      call_id text,
      prompt text not null,
      cancel_on jsonb not null,
      state text not null,
      cancelled_by text,
      request jsonb not null,
      due_at bigint not null,
      created_at bigint not null,
      ended_at bigint,
      claim_owner text,
      claim_until timestamptz,
      claim_token bigint not null default 0
    )`.execute(db);
    await sql`create index timer_chat on timer (chat_id, created_at)`.execute(db);
    await sql`create index timer_user on timer (user_id) where state = 'waiting'`.execute(db);
    await sql`create index timer_due on timer (due_at) where state = 'waiting'`.execute(db);
  },
};
