import { sql } from "kysely";
import type { Migration } from "kysely/migration";

/** Workspace tools, the versions of their code, and what they store. */
export const createTools: Migration = {
  async up(db) {
    await sql`create table tool (id text primary key, user_id text not null, name text not null,
      content text not null, specs jsonb not null default '[]', meta jsonb not null default '{}',
      valves jsonb not null default '{}', version integer not null default 1, error text, approved jsonb,
      pending jsonb, created_at bigint not null, updated_at bigint not null)`.execute(db);
    await sql`create index tool_user_id on tool (user_id)`.execute(db);
    await sql`create table tool_version (tool_id text not null references tool (id) on delete cascade,
      version integer not null, content text not null, user_id text not null, created_at bigint not null,
      primary key (tool_id, version))`.execute(db);
    await sql`create table tool_storage (tool_id text not null references tool (id) on delete cascade,
      user_id text not null, key text not null, value jsonb not null, size integer not null,
      updated_at bigint not null, primary key (tool_id, user_id, key))`.execute(db);
    await sql`create index tool_storage_user_id on tool_storage (user_id)`.execute(db);
  },
};
