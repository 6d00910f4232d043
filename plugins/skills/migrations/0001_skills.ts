import { sql } from "kysely";
import type { Migration } from "kysely/migration";

/** Skills and their files. */
export const createSkills: Migration = {
  async up(db) {
    await sql`create table skill (id text primary key, user_id text not null, name text not null,
      description text not null default '', content text not null, meta jsonb not null default '{}',
      is_active boolean not null default true, created_at bigint not null,
      updated_at bigint not null)`.execute(db);
    await sql`create index skill_user_id on skill (user_id)`.execute(db);
    await sql`create table skill_file (skill_id text not null references skill (id) on delete cascade,
      path text not null, content bytea not null, size integer not null,
      primary key (skill_id, path))`.execute(db);
  },
};
