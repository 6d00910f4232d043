import { sql } from "kysely";
import type { Migration } from "kysely/migration";

/** Workspaces, keys, the chats that agents write into, and their runs. */
export const createGateway: Migration = {
  async up(db) {
    await sql`create table gateway_workspace (id text primary key,
      user_id text not null references "user" (id) on delete cascade, name text not null,
      folder text not null unique, slug text not null, model text, instructions text not null default '',
      created_at bigint not null, updated_at bigint not null, unique (user_id, slug))`.execute(db);
    await sql`create table gateway_key (id text primary key,
      user_id text not null references "user" (id) on delete cascade, name text not null,
      key_hash text not null unique, hint text not null, created_at bigint not null,
      last_used_at bigint)`.execute(db);
    await sql`create index gateway_key_user_id on gateway_key (user_id)`.execute(db);
    await sql`create table gateway_chat (chat_id text primary key references chat (id) on delete cascade,
      workspace_id text not null references gateway_workspace (id) on delete cascade,
      user_id text not null, external_id text, created_at bigint not null,
      unique (workspace_id, external_id))`.execute(db);
    await sql`create table gateway_run (id text primary key,
      workspace_id text not null references gateway_workspace (id) on delete cascade,
      chat_id text not null, message_id text not null unique, model_id text not null, status text not null,
      error text, started_at bigint not null, ended_at bigint, changes text, changes_problem text,
      undone_at bigint)`.execute(db);
    await sql`create index gateway_run_workspace on gateway_run (workspace_id, started_at desc)`.execute(db);
    // Two runs in one folder would write over each other, and neither could be undone.
    await sql`create unique index gateway_run_one on gateway_run (workspace_id) where status = 'running'`.execute(
      db,
    );
  },
};
