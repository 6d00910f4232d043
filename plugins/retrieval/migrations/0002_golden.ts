import { sql } from "kysely";
import type { Migration } from "kysely/migration";

/** Questions with the passages that answer them, and how searches did on them. */
export const createGolden: Migration = {
  async up(db) {
    await sql`create table golden_question (
      id text primary key,
      number bigint generated always as identity,
      user_id text not null references "user" (id) on delete cascade,
      question text not null,
      files text[] not null,
      collections text[] not null,
      expected jsonb not null,
      created_at bigint not null,
      updated_at bigint not null
    )`.execute(db);
    await sql`create index golden_question_user on golden_question (user_id, number)`.execute(db);
    await sql`create table golden_run (
      id text primary key,
      number bigint generated always as identity,
      user_id text not null references "user" (id) on delete cascade,
      settings jsonb not null,
      k integer not null,
      results jsonb not null,
      created_at bigint not null
    )`.execute(db);
    await sql`create index golden_run_user on golden_run (user_id, number)`.execute(db);
  },
};
