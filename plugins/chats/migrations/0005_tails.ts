import { type Kysely, sql } from "kysely";
import type { Migration } from "kysely/migration";

/** What replies have grown by since they were stored whole: a reply is not written again for every word. */
export const createTails: Migration = {
  async up(db) {
    await sql`create table chat_message_tail (
      chat_id text not null,
      message_id text not null,
      -- Number of the last event that this piece includes.
      seq integer not null,
      grown jsonb not null,
      primary key (chat_id, message_id, seq),
      foreign key (chat_id, message_id) references chat_message (chat_id, id) on delete cascade
    )`.execute(db as Kysely<unknown>);
  },
};
