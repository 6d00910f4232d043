import { sql } from "kysely";
import type { Migration } from "kysely/migration";

export const createOAuthTables: Migration = {
  async up(db) {
    await sql`create table oauth_provider_session (
      id text primary key,
      user_id text not null references "user" (id) on delete cascade,
      provider text not null,
      subject text not null,
      sid text,
      token text not null,
      expires_at bigint,
      renewed_until bigint,
      created_at bigint not null,
      updated_at bigint not null
    )`.execute(db);
    await sql`create index oauth_provider_session_user on oauth_provider_session (user_id, provider)`.execute(
      db,
    );
    await sql`create index oauth_provider_session_sid on oauth_provider_session (provider, sid)`.execute(db);
    await sql`create table oauth_used_state (state text primary key, expires_at bigint not null)`.execute(db);
    await sql`create table oauth_trial (
      id text primary key,
      user_id text not null references "user" (id) on delete cascade,
      result text not null,
      expires_at bigint not null
    )`.execute(db);
    await sql`create table oauth_exchange_try (
      address text not null,
      window_start bigint not null,
      tries int not null,
      primary key (address, window_start)
    )`.execute(db);
    // Finds the account of a person of a provider among all.
    await sql`create index user_oauth on "user" using gin (oauth jsonb_path_ops)`.execute(db);
  },
};
