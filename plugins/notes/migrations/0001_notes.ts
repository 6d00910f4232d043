import { sql } from "kysely";
import type { Migration } from "kysely/migration";

/** Notes, their documents, and what belongs to them. */
export const createNotes: Migration = {
  async up(db) {
    await sql`create table note (id text primary key,
      user_id text not null references "user" (id) on delete cascade, title text not null,
      content text not null, data jsonb not null default '{}', meta jsonb not null default '{}',
      created_at bigint not null, updated_at bigint not null)`.execute(db);
    await sql`create index note_user_id on note (user_id, updated_at)`.execute(db);
    await sql`create table pinned_note (id text primary key,
      user_id text not null references "user" (id) on delete cascade,
      note_id text not null references note (id) on delete cascade,
      created_at bigint not null, unique (user_id, note_id))`.execute(db);
    await sql`create index pinned_note_note_id on pinned_note (note_id)`.execute(db);
    await sql`create table note_document (note_id text primary key references note (id) on delete cascade,
      state bytea not null)`.execute(db);
    await sql`create table note_update (id bigint generated always as identity primary key,
      note_id text not null references note (id) on delete cascade, user_id text not null,
      bytes bytea not null, created_at bigint not null)`.execute(db);
    await sql`create index note_update_note_id on note_update (note_id)`.execute(db);
    await sql`create table note_version (id text primary key,
      note_id text not null references note (id) on delete cascade,
      -- What was written outlives the account that wrote it.
      user_id text references "user" (id) on delete set null,
      title text not null, content text not null, created_at bigint not null,
      updated_at bigint not null)`.execute(db);
    await sql`create index note_version_note_id on note_version (note_id, created_at)`.execute(db);
    await sql`create table note_file (note_id text not null references note (id) on delete cascade,
      file_id text not null, user_id text not null, primary key (note_id, file_id))`.execute(db);
    await sql`create index note_file_file_id on note_file (file_id)`.execute(db);
    await sql`create table note_chat (chat_id text primary key,
      note_id text not null references note (id) on delete cascade, user_id text not null,
      created_at bigint not null)`.execute(db);
    await sql`create index note_chat_note_id on note_chat (note_id, user_id)`.execute(db);
  },
};
