import { sql } from "kysely";
import type { Migration } from "kysely/migration";

/** Prompts and their versions. */
export const createPrompts: Migration = {
  async up(db) {
    await sql`create table prompt (id text primary key, command text not null, user_id text not null,
      name text not null, content text not null, data jsonb not null default '{}',
      meta jsonb not null default '{}', tags jsonb not null default '[]',
      is_active boolean not null default true, version_id text, created_at bigint not null,
      updated_at bigint not null)`.execute(db);
    await sql`create unique index prompt_command on prompt (lower(command))`.execute(db);
    await sql`create index prompt_user_id on prompt (user_id)`.execute(db);
    await sql`create index prompt_updated_at on prompt (updated_at)`.execute(db);
    await sql`create table prompt_history (id text primary key, seq bigserial not null,
      prompt_id text not null references prompt (id) on delete cascade, parent_id text,
      snapshot jsonb not null, user_id text not null, commit_message text, created_at bigint not null)`.execute(
      db,
    );
    await sql`create index prompt_history_prompt_id on prompt_history (prompt_id, created_at)`.execute(db);
  },
};
