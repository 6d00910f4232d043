import { sql } from "kysely";
import type { Migration } from "kysely/migration";

/** Channels, their members, messages, reactions, files and webhooks. */
export const createChannels: Migration = {
  async up(db) {
    await sql`create table channel (
      id text primary key,
      -- Words outlive the account that made the room for them.
      user_id text references "user" (id) on delete set null,
      type text check (type in ('group', 'dm')),
      name text not null,
      description text,
      is_private boolean,
      data jsonb,
      meta jsonb,
      -- The people of a direct channel in one text, so that two requests at once make one channel.
      people text unique,
      created_at bigint not null,
      updated_at bigint not null,
      updated_by text,
      archived_at bigint,
      archived_by text,
      deleted_at bigint,
      deleted_by text
    )`.execute(db);
    await sql`create table channel_member (
      id text primary key,
      channel_id text not null references channel (id) on delete cascade,
      user_id text not null references "user" (id) on delete cascade,
      role text,
      status text not null check (status in ('joined', 'left')),
      is_active boolean not null default true,
      is_channel_muted boolean not null default false,
      is_channel_pinned boolean not null default false,
      data jsonb,
      meta jsonb,
      invited_at bigint,
      invited_by text,
      joined_at bigint not null,
      left_at bigint,
      last_read_at bigint,
      created_at bigint not null,
      updated_at bigint not null,
      unique (channel_id, user_id)
    )`.execute(db);
    await sql`create index channel_member_user on channel_member (user_id)`.execute(db);
    await createMessages(db);
    await createFilesAndWebhooks(db);
  },
};

type Database = Parameters<Migration["up"]>[0];

async function createMessages(db: Database): Promise<void> {
  await sql`create table message (
    id text primary key,
    user_id text references "user" (id) on delete set null,
    channel_id text not null references channel (id) on delete cascade,
    reply_to_id text references message (id) on delete set null,
    parent_id text references message (id) on delete cascade,
    is_pinned boolean not null default false,
    pinned_by text,
    pinned_at bigint,
    content text not null,
    data jsonb,
    meta jsonb,
    reply_count integer not null default 0,
    latest_reply_at bigint,
    -- Epoch seconds until which a model's reply counts as being written; renewed by the process that writes it.
    writing_until bigint,
    created_at bigint not null,
    updated_at bigint not null
  )`.execute(db);
  await sql`create index message_page on message (channel_id, created_at, id) where parent_id is null`.execute(
    db,
  );
  await sql`create index message_channel on message (channel_id, created_at)`.execute(db);
  await sql`create index message_thread on message (parent_id, created_at, id) where parent_id is not null`.execute(
    db,
  );
  await sql`create index message_reply_to on message (reply_to_id) where reply_to_id is not null`.execute(db);
  await sql`create index message_user on message (user_id)`.execute(db);
  await sql`create index message_pinned on message (channel_id, pinned_at) where is_pinned`.execute(db);
  await sql`create index message_writing on message (writing_until) where writing_until is not null`.execute(
    db,
  );
  await sql`create index message_words on message using gin (to_tsvector('simple', left(content, 100000)))`.execute(
    db,
  );
  await sql`create table message_reaction (
    id text primary key,
    user_id text not null references "user" (id) on delete cascade,
    message_id text not null references message (id) on delete cascade,
    name text not null,
    created_at bigint not null,
    unique (message_id, user_id, name)
  )`.execute(db);
  await sql`create index message_reaction_user on message_reaction (user_id)`.execute(db);
}

async function createFilesAndWebhooks(db: Database): Promise<void> {
  await sql`create table channel_file (
    id text primary key,
    user_id text not null references "user" (id) on delete cascade,
    channel_id text not null references channel (id) on delete cascade,
    file_id text not null references file (id) on delete cascade,
    message_id text references message (id) on delete cascade,
    created_at bigint not null,
    updated_at bigint not null,
    unique (channel_id, file_id)
  )`.execute(db);
  await sql`create index channel_file_file on channel_file (file_id)`.execute(db);
  await sql`create index channel_file_message on channel_file (message_id)`.execute(db);
  await sql`create index channel_file_user on channel_file (user_id)`.execute(db);
  await sql`create table channel_webhook (
    id text primary key,
    channel_id text not null references channel (id) on delete cascade,
    user_id text references "user" (id) on delete set null,
    name text not null,
    profile_image_url text,
    token text not null,
    last_used_at bigint,
    created_at bigint not null,
    updated_at bigint not null
  )`.execute(db);
  await sql`create index channel_webhook_channel on channel_webhook (channel_id)`.execute(db);
}
