import { sql } from "kysely";
import type { Migration } from "kysely/migration";

/** Memories about people, and every change of them. */
export const createMemories: Migration = {
  async up(db) {
    await sql`create table memory (
      id text primary key,
      user_id text not null references "user" (id) on delete cascade,
      type text not null,
      path text,
      content text not null,
      meta jsonb not null,
      created_at bigint not null,
      updated_at bigint not null
    )`.execute(db);
    await sql`create index memory_owner on memory (user_id, type, updated_at desc, id)`.execute(db);
    await sql`create index memory_path on memory (user_id, path text_pattern_ops)`.execute(db);
    await sql`create table memory_change (
      id text primary key,
      user_id text not null references "user" (id) on delete cascade,
      memory_id text not null,
      action text not null,
      before jsonb,
      after jsonb,
      source jsonb not null,
      undone_at bigint,
      created_at bigint not null,
      sequence bigint generated always as identity
    )`.execute(db);
    await sql`create index memory_change_owner on memory_change (user_id, sequence desc)`.execute(db);
  },
};
