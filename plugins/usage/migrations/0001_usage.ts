import { sql } from "kysely";
import type { Migration } from "kysely/migration";

/** Fields of a record and their types. */
const columns = {
  created_at: "bigint",
  user_id: "text",
  model_id: "text",
  base_model_id: "text",
  provider: "text",
  connection: "text",
  wire: "text",
  task: "text",
  chat_id: "text",
  message_id: "text",
  input_tokens: "bigint",
  output_tokens: "bigint",
  cached_tokens: "bigint",
  reasoning_tokens: "bigint",
  estimated: "boolean",
  duration_ms: "bigint",
  first_token_ms: "bigint",
  outcome: "text",
  tools: "text",
};

/**
 * Records of model calls, a row for each batch with a column's values as one array: a row for each call would cost the
 * database ten times as much. And their sums by day. An account that goes leaves its calls behind without its name.
 */
export const migration: Migration = {
  async up(db) {
    const arrays = Object.entries(columns).map(([name, type]) => `${name} ${type}[] not null`);
    await sql`create table usage_batch (
      id uuid primary key,
      calls integer not null,
      first_at bigint not null,
      last_at bigint not null,
      users text[] not null,
      ${sql.raw(arrays.join(", "))}
    )`.execute(db);
    // Compressing an array takes the database longer than everything else about a batch.
    const uncompressed = Object.keys(columns)
      .map((name) => `alter column ${name} set storage external`)
      .join(", ");
    await sql.raw(`alter table usage_batch ${uncompressed}`).execute(db);
    await sql`create index usage_batch_time on usage_batch (last_at, first_at)`.execute(db);
    await sql`create index usage_batch_users on usage_batch using gin (users)`.execute(db);
    // A column with one element for several calls has the same value for all of them.
    await sql`create function usage_column(given anyarray, calls integer) returns anyarray language sql immutable as $$
      select case when cardinality(given) < calls then array_fill(given[1], array[calls]) else given end
    $$`.execute(db);
    await sql`create function usage_forget_user() returns trigger language plpgsql as $$ begin
      update usage_batch
        set user_id = array_replace(user_id, old.id, null), users = array_remove(users, old.id)
        where users @> array[old.id];
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
