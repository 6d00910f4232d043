import { sql } from "kysely";
import type { Migration } from "kysely/migration";

/** Collections, their directories and files, and the state of watched folders. */
export const createKnowledge: Migration = {
  async up(db) {
    // No reference to the account: the index has to be told before the rows go.
    await sql`create table knowledge (id text primary key, user_id text not null, name text not null,
      description text not null default '', meta jsonb not null default '{}',
      created_at bigint not null, updated_at bigint not null)`.execute(db);
    await sql`create index knowledge_user_id on knowledge (user_id)`.execute(db);
    await sql`create table knowledge_directory (id text primary key,
      knowledge_id text not null references knowledge (id) on delete cascade, parent_id text,
      user_id text not null, name text not null, created_at bigint not null, updated_at bigint not null,
      unique (knowledge_id, id),
      foreign key (knowledge_id, parent_id) references knowledge_directory (knowledge_id, id) on delete cascade)`.execute(
      db,
    );
    await sql`create unique index knowledge_directory_name
      on knowledge_directory (knowledge_id, coalesce(parent_id, ''), lower(name))`.execute(db);
    await sql`create table knowledge_file (id text primary key,
      knowledge_id text not null references knowledge (id) on delete cascade,
      file_id text not null references file (id) on delete cascade,
      user_id text not null, directory_id text, name text not null, size bigint not null, hash text,
      content_type text, status text not null, error text, created_at bigint not null, updated_at bigint not null,
      unique (knowledge_id, file_id),
      foreign key (knowledge_id, directory_id) references knowledge_directory (knowledge_id, id))`.execute(
      db,
    );
    await sql`create index knowledge_file_file_id on knowledge_file (file_id)`.execute(db);
    await sql`create index knowledge_file_place on knowledge_file (knowledge_id, directory_id)`.execute(db);
    await sql`create index knowledge_file_processing on knowledge_file (updated_at)
      where status = 'processing'`.execute(db);
    await sql`create table knowledge_watch (
      knowledge_id text primary key references knowledge (id) on delete cascade, folder text not null,
      looked_at bigint not null, is_running boolean not null default false, files bigint not null,
      failed bigint not null, error text)`.execute(db);
    await sql`create table knowledge_watch_file (
      knowledge_id text not null references knowledge (id) on delete cascade, path text not null,
      file_id text references file (id) on delete set null, size bigint not null, modified_ms bigint not null,
      hash text, error text, primary key (knowledge_id, path))`.execute(db);
    await sql`create index knowledge_watch_file_file_id on knowledge_watch_file (file_id)`.execute(db);
  },
};
