import { sql } from "kysely";
import type { Migration } from "kysely/migration";

/** Programs that join channels. */
export const createAppTable: Migration = {
  async up(db) {
    await sql`create table app (
      id text primary key,
      user_id text not null unique references "user" (id),
      name text not null,
      description text not null,
      url text,
      manifest_url text,
      scopes jsonb not null,
      events jsonb not null,
      enabled boolean not null,
      disabled_reason text,
      failures integer not null default 0,
      sealed_secret text not null,
      key_hash text unique,
      key_hint text,
      key_created_at bigint,
      created_by text references "user" (id) on delete set null,
      created_at bigint not null,
      updated_at bigint not null
    )`.execute(db);
    await sql`create index app_created_by on app (created_by)`.execute(db);
  },
};
