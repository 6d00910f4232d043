import { sql } from "kysely";
import type { Migration } from "kysely/migration";

/** Records of model calls, and their sums by day. An account that goes leaves its sums behind without its name. */
export const migration: Migration = {
  async up(db) {
    await sql`create table usage_batch (id uuid primary key, created_at bigint not null)`.execute(db);
    await sql`create table usage_record (
      id bigint generated always as identity primary key,
      created_at bigint not null,
      user_id text,
      model_id text not null,
      base_model_id text not null,
      provider text not null,
      connection text,
      wire text not null,
      task text,
      chat_id text,
      message_id text,
      input_tokens bigint not null,
      output_tokens bigint not null,
      cached_tokens bigint not null,
      reasoning_tokens bigint not null,
      estimated boolean not null,
      duration_ms bigint not null,
      first_token_ms bigint,
      outcome text not null,
      tools text[] not null
    )`.execute(db);
    await sql`create index usage_record_created on usage_record (created_at)`.execute(db);
    await sql`create index usage_record_user on usage_record (user_id, created_at)`.execute(db);
    // In place of a foreign key, whose check would cost every record as much as all its indexes do.
    await sql`create function usage_forget_user() returns trigger language plpgsql as $$ begin
      update usage_record set user_id = null where user_id = old.id;
      return old;
    end $$`.execute(db);
    await sql`create trigger usage_forget_user after delete on "user"
      for each row execute function usage_forget_user()`.execute(db);
    await sql`create table usage_day (
      day date not null,
      user_id text references "user" (id) on delete set null,
      model_id text not null,
      provider text not null,
      calls bigint not null default 0,
      failed bigint not null default 0,
      estimated bigint not null default 0,
      input_tokens bigint not null default 0,
      output_tokens bigint not null default 0,
      cached_tokens bigint not null default 0,
      reasoning_tokens bigint not null default 0,
      duration_ms bigint not null default 0,
      unique (day, user_id, model_id, provider)
    )`.execute(db);
    await sql`create index usage_day_user on usage_day (user_id, day)`.execute(db);
  },
};
