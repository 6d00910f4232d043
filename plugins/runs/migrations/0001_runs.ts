import { type Kysely, sql } from "kysely";
import type { Migration } from "kysely/migration";

/** Runs that are under way, and the processes that work on them. */
export const createRuns: Migration = {
  async up(db) {
    const all = db as Kysely<unknown>;
    await sql`create table chat_run (
      id text primary key,
      chat_id text not null,
      message_id text not null,
      user_id text not null references "user" (id) on delete cascade,
      owner_id text not null,
      created_at bigint not null
    )`.execute(all);
    await sql`create index chat_run_chat on chat_run (chat_id)`.execute(all);
    await sql`create table chat_run_owner (id text primary key, seen_at bigint not null)`.execute(all);
  },
};
