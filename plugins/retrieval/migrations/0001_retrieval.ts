import { type Kysely, sql } from "kysely";
import type { Migration } from "kysely/migration";
import { createVectorTable } from "#storage/vectors.ts";

/** Sources, their passages, statistics of words, and vectors. */
export const createRetrieval: Migration = {
  async up(db) {
    const all = db as Kysely<unknown>;
    await createSources(all);
    await createPassages(all);
    await createCollections(all);
    await sql`create table embedding_index (
      id integer generated always as identity primary key,
      engine text not null,
      model text not null,
      content_prefix text not null,
      dimensions integer,
      status text not null check (status in ('filling', 'serving', 'old')),
      created_at bigint not null
    )`.execute(all);
    await sql`create unique index embedding_index_model on embedding_index (engine, model, content_prefix)
      where status <> 'old'`.execute(all);
    await createVectorTable(all, "passage_vector");
  },
};

async function createSources(db: Kysely<unknown>): Promise<void> {
  await sql`create table retrieval_source (
    id bigint generated always as identity primary key,
    item_id text not null,
    file_id text,
    user_id text not null,
    name text not null,
    url text,
    content text not null,
    places jsonb not null default '[]'::jsonb,
    language text not null,
    status text not null check (status in ('writing', 'live', 'gone')),
    passages integer not null default 0,
    embedded_in integer,
    attempts integer not null default 0,
    error text,
    gave_up boolean not null default false,
    free_at bigint not null default 0,
    created_at bigint not null
  )`.execute(db);
  await sql`create unique index retrieval_source_item on retrieval_source (item_id) where status = 'live'`.execute(
    db,
  );
  await sql`create index retrieval_source_any_item on retrieval_source (item_id)`.execute(db);
  await sql`create index retrieval_source_user on retrieval_source (user_id)`.execute(db);
  await sql`create index retrieval_source_embedded on retrieval_source (embedded_in, free_at)`.execute(db);
}

async function createPassages(db: Kysely<unknown>): Promise<void> {
  await sql`create table retrieval_passage (
    id bigint generated always as identity primary key,
    source_id bigint not null references retrieval_source (id) on delete cascade,
    position integer not null,
    content text not null,
    start_at integer not null,
    end_at integer not null,
    page integer,
    sheet text,
    part text,
    headings text[] not null default '{}',
    lexemes tsvector not null,
    length integer not null,
    unique (source_id, position)
  )`.execute(db);
  await sql`create index retrieval_passage_lexemes on retrieval_passage using gin (lexemes)`.execute(db);
}

async function createCollections(db: Kysely<unknown>): Promise<void> {
  await sql`create table retrieval_collection (
    name text primary key,
    user_id text,
    passages integer not null default 0,
    length bigint not null default 0
  )`.execute(db);
  await sql`create index retrieval_collection_user on retrieval_collection (user_id)`.execute(db);
  await sql`create table retrieval_member (
    collection text not null references retrieval_collection (name) on delete cascade,
    item_id text not null,
    primary key (collection, item_id)
  )`.execute(db);
  await sql`create index retrieval_member_item on retrieval_member (item_id)`.execute(db);
  await sql`create table retrieval_term (
    collection text not null references retrieval_collection (name) on delete cascade,
    lexeme text not null,
    passages integer not null,
    primary key (collection, lexeme)
  )`.execute(db);
}
