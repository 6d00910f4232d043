import { sql } from "kysely";
import type { Migration } from "kysely/migration";

/** What people think of replies. */
export const createFeedback: Migration = {
  async up(db) {
    await sql`create table feedback (
      id text primary key,
      user_id text not null references "user" (id) on delete cascade,
      version bigint not null default 0,
      type text not null,
      data jsonb not null,
      meta jsonb not null,
      snapshot jsonb,
      created_at bigint not null,
      updated_at bigint not null
    )`.execute(db);
    // One opinion per person and reply: who rates a reply again changes the rating.
    await sql`create unique index feedback_message
      on feedback (user_id, (meta ->> 'chat_id'), (meta ->> 'message_id'), type)`.execute(db);
    await sql`create index feedback_created on feedback (created_at, id)`.execute(db);
    await sql`create index feedback_model on feedback ((data ->> 'model_id'), created_at)`.execute(db);
  },
};
