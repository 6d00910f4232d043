import { type Kysely, sql } from "kysely";
import type { Migration } from "kysely/migration";

/** What runs need of messages: where events of one stand, and who has an id. */
export const createReplies: Migration = {
  async up(db) {
    const all = db as Kysely<unknown>;
    // Events of a message count on through all its runs; a client that knows a number never sees it again.
    await sql`alter table chat_message add column seq integer not null default 0`.execute(all);
    await sql`create index chat_message_id on chat_message (id)`.execute(all);
  },
};
