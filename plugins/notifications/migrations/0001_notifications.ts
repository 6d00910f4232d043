import { sql } from "kysely";
import type { Migration } from "kysely/migration";

/** The notification centre, addresses of people and administrators, browsers for web push, and the delivery log. */
export const createNotifications: Migration = {
  async up(db) {
    await sql`create table notification (
      id text primary key,
      user_id text not null references "user" (id) on delete cascade,
      event text not null,
      title text not null,
      body text not null,
      path text,
      read_at bigint,
      created_at bigint not null
    )`.execute(db);
    await sql`create index notification_owner on notification (user_id, created_at desc, id)`.execute(db);
    await sql`create index notification_unread on notification (user_id) where read_at is null`.execute(db);
    await sql`create index notification_age on notification (created_at)`.execute(db);
    await sql`create table notification_target (
      id text primary key,
      user_id text not null references "user" (id) on delete cascade,
      type text not null,
      enabled boolean not null,
      events jsonb not null,
      delivery text not null,
      is_default boolean not null,
      sealed_url text not null,
      created_at bigint not null,
      updated_at bigint not null
    )`.execute(db);
    await sql`create index notification_target_owner on notification_target (user_id, created_at)`.execute(
      db,
    );
    await sql`create table push_subscription (
      id text primary key,
      user_id text not null references "user" (id) on delete cascade,
      name text not null,
      endpoint text not null unique,
      sealed_keys text not null,
      created_at bigint not null
    )`.execute(db);
    await sql`create index push_subscription_owner on push_subscription (user_id, created_at)`.execute(db);
    await sql`create table push_key (
      id text primary key,
      public_key text not null,
      sealed_private_key text not null
    )`.execute(db);
    await sql`create table event_webhook (
      id text primary key,
      name text not null,
      enabled boolean not null,
      form text not null,
      events jsonb not null,
      targets jsonb not null,
      sealed_url text not null,
      sealed_secret text not null,
      created_at bigint not null,
      updated_at bigint not null
    )`.execute(db);
    await sql`create table event_delivery (
      id text primary key,
      webhook_id text,
      target_id text references notification_target (id) on delete cascade,
      event text not null,
      envelope jsonb not null,
      status text not null,
      attempts integer not null,
      last_status integer,
      last_error text,
      created_at bigint not null,
      updated_at bigint not null
    )`.execute(db);
    await sql`create index event_delivery_webhook on event_delivery (webhook_id, created_at desc, id)`.execute(
      db,
    );
    await sql`create index event_delivery_target on event_delivery (target_id)`.execute(db);
    await sql`create index event_delivery_age on event_delivery (created_at)`.execute(db);
  },
};
