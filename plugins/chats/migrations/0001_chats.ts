import { type Kysely, sql } from "kysely";
import type { Migration } from "kysely/migration";

/** Chats, their messages, shares, files and tags. */
export const createChats: Migration = {
  async up(db) {
    const all = db as Kysely<unknown>;
    await createWords(all);
    await createChatTable(all);
    await createMessages(all);
    await createShares(all);
    await createFilesAndTags(all);
  },
};

/** What search reads of a message, and how it is cut into words. */
async function createWords(db: Kysely<unknown>): Promise<void> {
  await sql`create function chat_message_text(content jsonb) returns text
    language sql immutable parallel safe as $$
      select case jsonb_typeof(content)
        when 'string' then content #>> '{}'
        when 'array' then regexp_replace(jsonb_path_query_array(content, '$[*].text')::text, '\\\\[nrt"]', ' ', 'g')
        else '' end $$`.execute(db);
  // A search vector holds at most 1 MB. Scripts without spaces between words are searched sign by sign.
  await sql`create function chat_words(words text) returns text
    language sql immutable parallel safe as $$
      select case when octet_length(words) = char_length(words) then left(words, 150000)
        else regexp_replace(left(words, 150000), '([\\u3040-\\u30ff\\u3400-\\u9fff\\uac00-\\ud7af])', ' \\1 ', 'g') end
    $$`.execute(db);
  // The owner is a word of the vector: one index lookup finds the words of one account among everybody's.
  await sql`create function chat_vector(owner text, words text) returns tsvector
    language sql immutable parallel safe as $$
      select array_to_tsvector(array['user:' || owner])
        || to_tsvector('simple'::regconfig, chat_words(coalesce(words, ''))) $$`.execute(db);
}

async function createChatTable(db: Kysely<unknown>): Promise<void> {
  await sql`create table chat (
    id text primary key,
    user_id text not null references "user" (id) on delete cascade,
    title text not null,
    chat jsonb not null default '{}',
    created_at bigint not null,
    updated_at bigint not null,
    share_id text unique,
    archived boolean not null default false,
    pinned boolean default false,
    meta jsonb not null default '{}',
    folder_id text,
    tasks jsonb,
    summary text,
    last_read_at bigint,
    current_message_id text,
    variables jsonb not null default '{}',
    is_internal boolean not null generated always as (coalesce(meta ->> 'internal', 'false') = 'true') stored,
    search tsvector generated always as (chat_vector(user_id, title)) stored
  )`.execute(db);
  // Serves every list of an account, newest first. Tags and titles have no index of words: each message moves
  // updated_at, and with it the entries of every index; an account's own chats are few enough to be read.
  await sql`create index chat_user_updated on chat (user_id, updated_at desc, id)`.execute(db);
  await sql`create index chat_folder on chat (folder_id, updated_at desc) where folder_id is not null`.execute(
    db,
  );
  await sql`create index chat_pinned on chat (user_id) where pinned`.execute(db);
  await sql`create index chat_archived on chat (user_id, updated_at desc) where archived`.execute(db);
}

async function createMessages(db: Kysely<unknown>): Promise<void> {
  await sql`create table chat_message (
    chat_id text not null references chat (id) on delete cascade,
    id text not null,
    user_id text not null,
    role text not null check (role in ('user', 'assistant', 'system')),
    parent_id text check (parent_id <> id),
    position integer not null default 0,
    content jsonb,
    output jsonb,
    model_id text,
    files jsonb,
    sources jsonb,
    embeds jsonb,
    meta jsonb,
    done boolean default true,
    status_history jsonb,
    error jsonb,
    usage jsonb,
    context_summary text,
    extra jsonb not null default '{}',
    run_id text,
    created_at bigint not null,
    updated_at bigint not null,
    -- A reply that grows once a second is not searched until its run ends, so that growing touches no index.
    search tsvector generated always as (
      case when run_id is null then chat_vector(user_id, chat_message_text(content)) end) stored,
    primary key (chat_id, id),
    -- No message can lose its parent, whoever writes.
    constraint chat_message_parent foreign key (chat_id, parent_id)
      references chat_message (chat_id, id) deferrable initially deferred
  )`.execute(db);
  await sql`create index chat_message_children on chat_message (chat_id, parent_id, position)`.execute(db);
  await sql`create index chat_message_running on chat_message (chat_id, run_id) where run_id is not null`.execute(
    db,
  );
  await sql`create index chat_message_search on chat_message using gin (search)`.execute(db);
}

async function createShares(db: Kysely<unknown>): Promise<void> {
  await sql`create table shared_chat (
    id text primary key,
    chat_id text not null unique references chat (id) on delete cascade,
    user_id text not null,
    title text not null,
    chat jsonb not null,
    open_chat jsonb not null,
    file_ids text[] not null default '{}',
    created_at bigint not null,
    updated_at bigint not null
  )`.execute(db);
  await sql`create index shared_chat_files on shared_chat using gin (file_ids)`.execute(db);
}

async function createFilesAndTags(db: Kysely<unknown>): Promise<void> {
  await sql`create table chat_file (
    id text primary key,
    user_id text not null,
    chat_id text not null references chat (id) on delete cascade,
    file_id text not null references file (id) on delete cascade,
    message_id text,
    position integer,
    entry jsonb,
    created_at bigint not null,
    updated_at bigint not null,
    constraint chat_file_unique unique (chat_id, file_id)
  )`.execute(db);
  await sql`create index chat_file_file on chat_file (file_id)`.execute(db);
  await sql`create table tag (
    id text not null,
    user_id text not null references "user" (id) on delete cascade,
    name text not null,
    meta jsonb,
    primary key (user_id, id)
  )`.execute(db);
}
