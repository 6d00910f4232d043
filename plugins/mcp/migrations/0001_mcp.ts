import { sql } from "kysely";
import type { Migration } from "kysely/migration";

export const createOAuthTables: Migration = {
  async up(db) {
    await sql`create table oauth_session (
      id text primary key,
      user_id text not null references "user" (id) on delete cascade,
      provider text not null,
      token text not null,
      expires_at bigint,
      wanted_scope text,
      renewed_until bigint,
      created_at bigint not null,
      updated_at bigint not null,
      unique (user_id, provider)
    )`.execute(db);
    await sql`create table oauth_flow (
      state text primary key,
      user_id text not null references "user" (id) on delete cascade,
      provider text not null,
      flow text not null,
      expires_at bigint not null
    )`.execute(db);
    await sql`create index oauth_flow_expiry on oauth_flow (expires_at)`.execute(db);
    await sql`create table oauth_client (
      provider text primary key,
      registration text not null,
      updated_at bigint not null
    )`.execute(db);
  },
};
